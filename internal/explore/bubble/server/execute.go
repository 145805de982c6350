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
func (sc *ServerConn) Answer() ([]byte, error) {
	reply, own, err := sc.execute()
	if err != nil {
		return nil, err
	}
	sc.server.mu.Lock()
	defer sc.server.mu.Unlock()
	sc.deliverPushes()
	sc.pendingPushes = own
	sc.client.deliver(reply)
	sc.answerAtOnce()
	return reply, nil
}

// Lose lets the held command take effect, and the connection end before the reply has come.
func (sc *ServerConn) ExecuteWithoutReply() ([]byte, error) {
	reply, _, err := sc.execute()
	sc.Drop()
	return reply, err
}

// Drop ends the connection. What is held on it has no effect.
func (sc *ServerConn) Drop() {
	sc.server.mu.Lock()
	defer sc.server.mu.Unlock()
	sc.queue, sc.transaction, sc.pendingPushes, sc.isTracking, sc.channels = nil, nil, nil, false, nil
	_, _ = sc.query([][]string{{"UNWATCH"}}) // it cannot fail
	sc.client.breakOff()
}

// Push delivers what was pushed.
func (sc *ServerConn) DeliverPushes() {
	sc.server.mu.Lock()
	defer sc.server.mu.Unlock()
	sc.deliverPushes()
}

func (sc *ServerConn) deliverPushes() {
	for _, message := range sc.pendingPushes {
		sc.client.deliver(message)
	}
	sc.pendingPushes = nil
}

// execute lets the command at the head of the queue take effect; EXEC, its whole transaction. Own are the pushes about it to its own
// sender: they follow the reply.
func (sc *ServerConn) execute() (reply []byte, ownPushes [][]byte, err error) {
	s := sc.server
	s.mu.Lock()
	defer s.mu.Unlock()
	c := sc.queue[0]
	sc.queue = sc.queue[1:]
	switch strings.ToUpper(c.words[0]) {
	case "SUBSCRIBE":
		for _, channel := range c.words[1:] {
			if err := simredis.CheckChannel(channel); err != nil {
				return nil, nil, err
			}
		}
		return sc.subscribe(c.words[1:]), nil, nil
	case "UNSUBSCRIBE":
		return sc.unsubscribe(c.words[1:]), nil, nil
	}
	all := slices.Concat(sc.transaction, []command{c})
	sc.transaction = nil
	words := make([][]string, len(all))
	for i, c := range all {
		words[i] = s.resolveScript(c)
	}
	before := s.cluster.Servers()[sc.Node].State
	pushed := sc.pendingPushes
	sc.pendingPushes = nil
	if reply, err = sc.query(words); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", c.text, err)
	}
	s.recordOwner(sc, before)
	ownPushes, sc.pendingPushes = sc.pendingPushes, pushed
	return reply, ownPushes, nil
}

// query asks the node, at once, and lets it do what it answers.
func (sc *ServerConn) query(commands [][]string) (reply []byte, _ error) {
	s := sc.server
	sent := make([]byte, 0, 512)
	for i, words := range commands {
		if s.usesTracking && words[0] == "EVAL" {
			if len(commands) > 1 {
				return nil, fmt.Errorf("%w: a script in a transaction, while a client tracks keys", simredis.ErrCommand)
			}
			commands[i] = withLogging(words)
		}
		sent = append(sent, proto.Strings(commands[i]...)...)
	}
	node := s.cluster.Servers()[sc.Node]
	answer, err := s.cluster.EvaluateOnConn(node, sc.watcher, sc.id(), s.expiredUntil, s.cluster.Command(sent))
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
	if s.usesTracking {
		reply, calls = splitLog(commands, reply)
	}
	s.cluster.SetState(node, answer.NewState)
	s.updateTracking(sc, calls)
	s.publish(sc.Node, answer.Published)
	return reply, nil
}

// recordTaker notes with which value a process has taken the lock, if that looks as if it were its own.
func (s *Server) recordOwner(by *ServerConn, before *simredis.State) {
	_, had := before.Key(s.shared.key)
	is, has := s.cluster.Servers()[by.Node].State.Key(s.shared.key)
	if had || !has {
		return
	}
	for _, value := range is.Values {
		if len(randomParts(value)) == 0 && !slices.Contains(strings.FieldsFunc(value, isNoDigit), strconv.Itoa(os.Getpid())) {
			continue
		}
		if first, known := s.firstOwners[value]; !known {
			s.firstOwners[value] = by.Process
		} else if first != by.Process {
			s.sharedOwner = value
		}
	}
}

func isNoDigit(r rune) bool { return r < '0' || r > '9' }

// CommonOwner returns a value that looks like an owner's and with which several processes have taken the lock, "" if there is none.
func (s *Server) SharedOwner() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sharedOwner
}

// spellOut gives a command with its script instead of the script's name.
func (s *Server) resolveScript(c command) []string {
	if script, _ := s.shared.script(c.words); script != "" {
		return append([]string{"EVAL", script}, c.words[2:]...)
	}
	return c.words
}

// invalidation is the push that says that a key has changed.
func invalidation(key string) []byte {
	return []byte(proto.Push(proto.String("invalidate"), proto.Strings(key)))
}
