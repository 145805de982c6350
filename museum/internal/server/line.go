package server

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"lockstep/museum/internal/wire"
)

// Sent implements wire.Peer.
func (l *Line) Sent(_ *wire.Conn, sent []string) {
	s := l.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone[l.Process] {
		return
	}
	s.shared.learn(sent)
	l.queue = append(l.queue, command{sent, s.names.rename(l.Process, sent)})
	l.chat()
	if len(l.queue) == 0 {
		return
	}
	s.arrivals[l.Process] = append(s.arrivals[l.Process], l.text(l.queue[len(l.queue)-1]))
	if s.muted[l.Process] {
		return
	}
	select {
	case s.stirred <- struct{}{}:
	default:
	}
}

// Closed implements wire.Peer.
func (l *Line) Closed(*wire.Conn) {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	l.deserted = true
}

// Deserted reports whether the client has closed the connection.
func (l *Line) Deserted() bool {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	return l.deserted
}

// Name calls the command that is held.
func (l *Line) Name() string { return l.server.shared.name(l.queue[0].sent) }

// Text is the command that is held.
func (l *Line) Text() string { return l.text(l.queue[0]) }

// text writes a command for people: of a script, what it is for, its keys and its arguments.
func (l *Line) text(c command) string {
	words := c.renamed
	if _, runs := l.server.shared.script(c.sent); runs && len(words) > 3 {
		words = append([]string{"EVAL " + l.server.shared.name(c.sent)}, words[3:]...)
	}
	words = slices.Clone(words)
	for i, word := range words {
		if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }) {
			words[i] = strconv.Quote(word)
		}
	}
	return strings.Join(words, " ")
}

// chat answers what is at the head of the queue, as long as it is about the connection alone.
func (l *Line) chat() {
	for len(l.queue) > 0 {
		answer := l.smallTalk(l.queue[0].sent)
		if answer == "" {
			return
		}
		l.queue = l.queue[1:]
		l.conn.Say([]byte(answer))
	}
}

// smallTalk answers a command that is about the connection alone, and is "" for any other.
func (l *Line) smallTalk(sent []string) string {
	if text, runs := l.server.shared.script(sent); runs {
		if text == "" {
			return "-NOSCRIPT No matching script. Please use EVAL.\r\n"
		}
		return ""
	}
	switch strings.ToUpper(sent[0]) {
	case "HELLO":
		return hello(sent)
	case "PING":
		return "+PONG\r\n"
	case "CLIENT":
		l.track(sent[1:])
		return "+OK\r\n"
	case "SELECT":
		return "+OK\r\n"
	default:
		return ""
	}
}

// hello answers as Redis 7.4 does, in RESP3 if the client wants it.
func hello(sent []string) string {
	if len(sent) < 2 || sent[1] != "3" {
		return "*6\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.4.0\r\n$5\r\nproto\r\n:2\r\n"
	}
	return "%3\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.4.0\r\n$5\r\nproto\r\n:3\r\n"
}

// track reads a CLIENT TRACKING.
func (l *Line) track(words []string) {
	if len(words) < 2 || !strings.EqualFold(words[0], "TRACKING") {
		return
	}
	l.tracks = strings.EqualFold(words[1], "ON")
	for _, word := range words[2:] {
		if strings.EqualFold(word, "NOLOOP") {
			l.ownToo = false
		}
	}
}
