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

// Answer executes the held command and delivers its reply, after the pushes that were already queued.
func (sc *Conn) Answer() ([]byte, error) {
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

// ExecuteWithoutReply executes the held command and breaks the connection before the reply arrives.
func (sc *Conn) ExecuteWithoutReply() ([]byte, error) {
	reply, _, err := sc.execute()
	sc.Drop()
	return reply, err
}

// Drop breaks the connection. Commands held on it are discarded without effect.
func (sc *Conn) Drop() {
	sc.server.mu.Lock()
	defer sc.server.mu.Unlock()
	sc.queue, sc.transaction, sc.pendingPushes, sc.isTracking, sc.channels = nil, nil, nil, false, nil
	_, _ = sc.query([][]string{{"UNWATCH"}}) // UNWATCH cannot fail.
	sc.client.breakOff()
}

// DeliverPushes delivers the queued pushes to the client.
func (sc *Conn) DeliverPushes() {
	sc.server.mu.Lock()
	defer sc.server.mu.Unlock()
	sc.deliverPushes()
}

// deliverPushes is like DeliverPushes, for callers that hold the server's mutex.
func (sc *Conn) deliverPushes() {
	for _, message := range sc.pendingPushes {
		sc.client.deliver(message)
	}
	sc.pendingPushes = nil
}

// execute executes the command at the head of the queue; for EXEC, the whole transaction. ownPushes are the pushes that the command causes
// for its own sender. Redis delivers them after the reply.
func (sc *Conn) execute() (reply []byte, ownPushes [][]byte, err error) {
	s := sc.server
	s.mu.Lock()
	defer s.mu.Unlock()
	head := sc.queue[0]
	sc.queue = sc.queue[1:]
	switch strings.ToUpper(head.words[0]) {
	case "SUBSCRIBE":
		for _, channel := range head.words[1:] {
			if err := simredis.CheckChannel(channel); err != nil {
				return nil, nil, err
			}
		}
		return sc.subscribe(head.words[1:]), nil, nil
	case "UNSUBSCRIBE":
		return sc.unsubscribe(head.words[1:]), nil, nil
	}
	all := slices.Concat(sc.transaction, []command{head})
	sc.transaction = nil
	words := make([][]string, len(all))
	for i, c := range all {
		words[i] = s.resolveScript(c)
	}
	before := s.cluster.Servers()[sc.Node].State
	earlierPushes := sc.pendingPushes
	sc.pendingPushes = nil
	if reply, err = sc.query(words); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", head.text, err)
	}
	s.recordOwner(sc, before)
	ownPushes, sc.pendingPushes = sc.pendingPushes, earlierPushes
	return reply, ownPushes, nil
}

// query executes commands on the node at once: it sets the node's new state, and queues invalidations and published messages.
func (sc *Conn) query(commands [][]string) (reply []byte, _ error) {
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
	for range len(commands) - 1 { // Skip the replies OK and QUEUED: the last line is EXEC's.
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

// recordOwner records the value of the lock key if conn's process has just set the key, and if the value looks like an owner: random, or
// with a process id. If another process has used the same value before, the value becomes sharedOwner. before is the node's previous state.
func (s *Server) recordOwner(conn *Conn, before *simredis.State) {
	_, existed := before.Key(s.shared.key)
	key, exists := s.cluster.Servers()[conn.Node].State.Key(s.shared.key)
	if existed || !exists {
		return
	}
	for _, value := range key.Values {
		if len(randomParts(value)) == 0 && !slices.Contains(strings.FieldsFunc(value, isNotDigit), strconv.Itoa(os.Getpid())) {
			continue
		}
		if first, ok := s.firstOwners[value]; !ok {
			s.firstOwners[value] = conn.Process
		} else if first != conn.Process {
			s.sharedOwner = value
		}
	}
}

// isNotDigit reports whether r is not an ASCII digit.
func isNotDigit(r rune) bool { return r < '0' || r > '9' }

// SharedOwner returns an owner value with which several processes have taken the lock, which is a mistake in the test; "" if there is none.
func (s *Server) SharedOwner() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sharedOwner
}

// resolveScript replaces EVALSHA by EVAL with the script's text, and returns other commands unchanged.
func (s *Server) resolveScript(c command) []string {
	if script, _ := s.shared.script(c.words); script != "" {
		return append([]string{"EVAL", script}, c.words[2:]...)
	}
	return c.words
}

// invalidation returns the RESP3 push that invalidates a cached key.
func invalidation(key string) []byte {
	return []byte(proto.Push(proto.String("invalidate"), proto.Strings(key)))
}
