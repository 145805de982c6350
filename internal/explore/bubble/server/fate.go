package server

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/explore/simredis"
)

// Answer lets the held command take effect, and the client read the reply. What was pushed before is read before.
func (l *Line) Answer() ([]byte, error) {
	reply, own, err := l.execute()
	if err != nil {
		return nil, err
	}
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	l.deliver()
	l.pushes = own
	l.conn.send(reply)
	l.answerAtOnce()
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
	l.queue, l.transaction, l.pushes, l.tracks, l.channels = nil, nil, nil, false, nil
	_, _ = l.query([][]string{{"UNWATCH"}}) // it cannot fail
	l.conn.end()
}

// Push delivers what was pushed.
func (l *Line) Push() {
	l.server.mu.Lock()
	defer l.server.mu.Unlock()
	l.deliver()
}

func (l *Line) deliver() {
	for _, message := range l.pushes {
		l.conn.send(message)
	}
	l.pushes = nil
}

// execute lets the command at the head of the queue take effect; EXEC, its whole transaction. Own are the pushes about it to its own
// sender: they follow the reply.
func (l *Line) execute() (reply []byte, own [][]byte, err error) {
	s := l.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c := l.queue[0]
	l.queue = l.queue[1:]
	switch strings.ToUpper(c.sent[0]) {
	case "SUBSCRIBE":
		for _, channel := range c.sent[1:] {
			if err := simredis.CheckChannel(channel); err != nil {
				return nil, nil, err
			}
		}
		return l.subscribe(c.sent[1:]), nil, nil
	case "UNSUBSCRIBE":
		return l.unsubscribe(c.sent[1:]), nil, nil
	}
	all := slices.Concat(l.transaction, []command{c})
	l.transaction = nil
	words := make([][]string, len(all))
	for i, c := range all {
		words[i] = s.spellOut(c)
	}
	before := s.cluster.Servers()[l.Node].State
	pushed := l.pushes
	l.pushes = nil
	if reply, err = l.query(words); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", c.text, err)
	}
	s.recordTaker(l, before)
	own, l.pushes = l.pushes, pushed
	return reply, own, nil
}

// query asks the node, at once, and lets it do what it answers.
func (l *Line) query(commands [][]string) (reply []byte, _ error) {
	s := l.server
	sent := make([]byte, 0, 512)
	for i, words := range commands {
		if s.tracking && words[0] == "EVAL" {
			if len(commands) > 1 {
				return nil, fmt.Errorf("%w: a script in a transaction, while a client tracks keys", simredis.ErrCommand)
			}
			commands[i] = logged(words)
		}
		sent = append(sent, proto.Strings(commands[i]...)...)
	}
	node := s.cluster.Servers()[l.Node]
	answer, err := s.cluster.EvaluateOnConn(node, l.watcher, l.id(), s.now, s.cluster.Command(sent))
	if err != nil {
		return nil, err
	}
	reply = answer.Reply
	for range len(commands) - 1 { // OK, and QUEUED
		line, rest, _ := bytes.Cut(reply, []byte("\r\n"))
		if len(line) > 0 && line[0] == '-' {
			return nil, fmt.Errorf("%w: %s", simredis.ErrCommand, line[1:])
		}
		reply = rest
	}
	var calls []call
	if s.tracking {
		reply, calls = takeLog(commands, reply)
	}
	s.cluster.SetState(node, answer.NewState)
	s.follow(l, calls)
	s.publish(l.Node, answer.Published)
	return reply, nil
}

// recordTaker notes with which value a process has taken the lock, if that looks as if it were its own.
func (s *Server) recordTaker(by *Line, before *simredis.State) {
	_, had := before.Key(s.shared.key)
	is, has := s.cluster.Servers()[by.Node].State.Key(s.shared.key)
	if had || !has {
		return
	}
	for _, value := range is.Values {
		if len(randomParts(value)) == 0 && !slices.Contains(strings.FieldsFunc(value, isNoDigit), strconv.Itoa(os.Getpid())) {
			continue
		}
		if first, known := s.takers[value]; !known {
			s.takers[value] = by.Process
		} else if first != by.Process {
			s.common = value
		}
	}
}

func isNoDigit(r rune) bool { return r < '0' || r > '9' }

// CommonOwner returns a value that looks like an owner's and with which several processes have taken the lock, "" if there is none.
func (s *Server) CommonOwner() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.common
}

// spellOut gives a command with its script instead of the script's name.
func (s *Server) spellOut(c command) []string {
	if script, _ := s.shared.script(c.sent); script != "" {
		return append([]string{"EVAL", script}, c.sent[2:]...)
	}
	return c.sent
}

// invalidation is the push that says that a key has changed.
func invalidation(key string) []byte {
	return []byte(proto.Push(proto.String("invalidate"), proto.Strings(key)))
}
