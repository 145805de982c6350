package server

import (
	"bytes"
	"fmt"
	"strings"

	"lockstep/museum/internal/wire"
)

// Answer lets the held command take effect, and the client read the reply. What was pushed before is read before.
func (l *Line) Answer() ([]byte, error) {
	reply, own, err := l.execute()
	if err != nil {
		return nil, err
	}
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	l.push()
	l.pushes = own
	l.conn.Say(l.server.names.restore(reply))
	l.chat()
	return reply, nil
}

// Lose lets the held command take effect, and the connection end before the reply has come.
func (l *Line) Lose() ([]byte, error) {
	reply, _, err := l.execute()
	l.Drop()
	return reply, err
}

// Drop ends the connection. What is held on it has no effect.
func (l *Line) Drop() {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	l.queue, l.pushes, l.tracks, l.channels = nil, nil, false, nil
	l.conn.Break()
}

// Push delivers what was pushed.
func (l *Line) Push() {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	l.push()
}

func (l *Line) push() {
	for _, message := range l.pushes {
		l.conn.Say(message)
	}
	l.pushes = nil
}

// execute lets the command at the head of the queue take effect. Own are the pushes about it to its own sender: they follow the reply.
func (l *Line) execute() (reply []byte, own [][]byte, err error) {
	s := l.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c := l.queue[0]
	l.queue = l.queue[1:]
	if strings.EqualFold(c.sent[0], "SUBSCRIBE") {
		return l.subscribe(c.sent[1:]), nil, nil
	}
	node := s.cluster.Servers()[l.Node]
	renamed := s.spellOut(c)
	answer, err := s.cluster.Ask(node, nil, 0, s.now, s.cluster.Command(wire.Encode(logged(renamed))))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", l.text(c), err)
	}
	reply, calls := takeLog(renamed, answer.Reply)
	before := l.pushes
	l.pushes = nil
	s.cluster.Become(node, answer.Then)
	s.follow(l, calls)
	s.publish(l.Node, answer.Published)
	own, l.pushes = l.pushes, before
	return reply, own, nil
}

// spellOut gives a command with its script instead of the script's name.
func (s *Server) spellOut(c command) []string {
	script, runs := s.shared.script(c.sent)
	if !runs {
		return c.renamed
	}
	return append([]string{"EVAL", script}, c.renamed[2:]...)
}

// invalidation is the push that says that a key has changed.
func invalidation(key string) []byte {
	return fmt.Appendf(nil, ">2\r\n$10\r\ninvalidate\r\n*1\r\n%s", bulk(key))
}

// Describe gives a reply for people.
func Describe(reply []byte) string {
	switch line, rest, _ := bytes.Cut(reply, []byte("\r\n")); {
	case len(line) == 0:
		return "?"
	case string(line) == "$-1", string(line) == "*-1", string(line) == "_":
		return "nil"
	case line[0] == '-':
		return "error " + string(line[1:])
	case line[0] == '$':
		return string(bytes.TrimSpace(rest))
	default:
		return string(line[1:])
	}
}
