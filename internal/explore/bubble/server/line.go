package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/explore/simredis"
)

// receive takes a command, and answers what can be answered at once.
func (l *Line) receive(sent []string) {
	s := l.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone[l.Process] {
		return
	}
	s.shared.recordScript(sent)
	s.sent++
	s.values.note(l.Process, sent)
	l.queue = append(l.queue, command{sent, s.shared.text(sent), s.sent})
	l.answerAtOnce()
	if len(l.queue) == 0 {
		return
	}
	s.arrivals[l.Process] = append(s.arrivals[l.Process], l.queue[len(l.queue)-1].text)
	if s.muted[l.Process] {
		return
	}
	s.Wake()
}

// desert marks a connection that its client has closed.
func (l *Line) desert() {
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
func (l *Line) Text() string { return l.queue[0].text }

// id tells lines apart that watch.
func (l *Line) id() int { return slices.Index(l.server.lines, l) }

// answerAtOnce answers what is at the head of the queue, as long as it is about the connection alone.
func (l *Line) answerAtOnce() {
	for len(l.queue) > 0 {
		answer := l.collect(l.queue[0])
		if answer == "" {
			answer = l.connectionReply(l.queue[0].sent)
		}
		if answer == "" {
			return
		}
		l.queue = l.queue[1:]
		l.conn.send([]byte(answer))
	}
}

// collect answers what is part of a transaction, before its EXEC: then all takes effect at once.
func (l *Line) collect(c command) string {
	switch name := strings.ToUpper(c.sent[0]); {
	case name == "MULTI" && l.transaction == nil:
		l.transaction = []command{c}
		return "+OK\r\n"
	case l.transaction == nil || name == "EXEC":
		return ""
	case name == "DISCARD":
		l.transaction = nil
		if _, err := l.query([][]string{{"UNWATCH"}}); err != nil {
			l.refused = err
		}
		return "+OK\r\n"
	case name == "MULTI" || name == "WATCH":
		return "-ERR " + name + " inside MULTI is not allowed\r\n"
	default:
		l.transaction = append(l.transaction, c)
		return "+QUEUED\r\n"
	}
}

// connectionReply answers a command that is about the connection alone, and is "" for any other.
func (l *Line) connectionReply(sent []string) string {
	if text, runs := l.server.shared.script(sent); runs {
		if text == "" {
			return "-NOSCRIPT No matching script. Please use EVAL.\r\n"
		}
		return ""
	}
	argument := ""
	if len(sent) > 1 {
		argument = strings.ToUpper(sent[1])
	}
	switch strings.ToUpper(sent[0]) {
	case "HELLO":
		l.resp3 = argument == "3"
		return hello(l.resp3)
	case "PING":
		if l.resp3 || len(l.channels) == 0 {
			return "+PONG\r\n"
		}
		return proto.Strings("pong", "")
	case "CLIENT":
		return l.client(argument, sent)
	case "AUTH", "READONLY":
		return "+OK\r\n"
	case "SELECT":
		if argument != "0" {
			l.refuse("SELECT: there is one database, 0")
		}
		return "+OK\r\n"
	case "EXEC", "DISCARD":
		if l.transaction == nil {
			return "-ERR " + strings.ToUpper(sent[0]) + " without MULTI\r\n"
		}
		return ""
	default:
		return ""
	}
}

// client answers a CLIENT.
func (l *Line) client(about string, sent []string) string {
	switch about {
	case "TRACKING":
		l.track(sent[2:])
	case "CACHING":
		l.caching = len(sent) > 2 && strings.EqualFold(sent[2], "YES")
	case "SETINFO", "SETNAME", "NO-EVICT", "NO-TOUCH":
	case "ID":
		return proto.Int(l.id() + 1)
	case "MAINT_NOTIFICATIONS": // of Redis Enterprise
		return "-ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.\r\n"
	default:
		l.refuse("CLIENT " + about)
	}
	return "+OK\r\n"
}

// refuse takes down that a command cannot be answered as a Redis does.
func (l *Line) refuse(command string) {
	l.refused = fmt.Errorf("%w: %s", simredis.ErrCommand, command)
}

// hello answers as Redis 7.4 does, in RESP3 if the client wants it.
func hello(resp3 bool) string {
	about := []string{proto.String("server"), proto.String("redis"), proto.String("version"), proto.String("7.4.0"), proto.String("proto")}
	if !resp3 {
		return proto.Array(append(about, proto.Int(2))...)
	}
	return proto.Map(append(about, proto.Int(3))...)
}

// track reads what follows CLIENT TRACKING.
func (l *Line) track(words []string) {
	for i, word := range words {
		switch strings.ToUpper(word) {
		case "ON", "OFF":
			l.tracks, l.server.tracking = strings.EqualFold(word, "ON"), true
		case "OPTIN":
			l.tracks = false
		case "OPTOUT":
		case "NOLOOP":
			l.ownToo = false
		default:
			l.refuse("CLIENT TRACKING " + strings.Join(words[i:], " "))
		}
	}
}
