// Package server is a Redis, or several, as one run sees it: clients connect in memory, and every command that is about a lock is held
// back until somebody says what becomes of it. What belongs to a connection alone (HELLO, CLIENT, PING, a script that is not loaded
// yet) is answered at once. What a command does is miniredis's word; client tracking, which miniredis does not have, is here.
package server

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lockstep/internal/explore/simredis"
)

// Server is the Redis of one run, on one node or on several.
type Server struct {
	shared *Shared
	began  time.Time

	mu       sync.Mutex
	now      time.Duration // up to which keys have expired
	sent     int           // commands
	cluster  *simredis.Cluster
	closed   bool
	lines    []*Line // in the order of their making
	tracked  map[place][]*Line
	values   values
	takers   map[string]string   // by a value of the lock that looks like an owner's: the process that took the lock with it first
	common   string              // a value with which several processes have taken the lock
	tracking bool                // somebody has asked to be told of changes
	arrivals map[string][]string // of commands since they were last taken, by process
	muted    map[string]bool     // processes that are paused
	gone     map[string]bool     // that have crashed
	woken    chan struct{}       // somebody has done something
}

// place is a key on a node.
type place struct {
	node int
	key  string
}

// Line is a connection, as the server sees it.
type Line struct {
	Process string
	Node    int

	server   *Server
	conn     *Conn
	queue    []command // sent, and not answered yet
	pushes   [][]byte  // not sent yet
	channels []string  // that it is subscribed to
	tracks   bool
	ownToo   bool // it hears of what it changes itself, too
	caching  bool // what the next command reads is tracked
	resp3    bool
	deserted bool // the client has closed it

	transaction []command      // since MULTI, which is its first
	watcher     *simredis.Conn // who WATCHes
	refused     error          // a command that is not like that of a Redis
}

// command is one that was sent.
type command struct {
	sent    []string
	text    string // of a script, what it is for, its keys and its arguments
	arrived int    // after so many others
}

// New makes one with so many nodes, in a bubble.
func New(shared *Shared, nodes int) *Server {
	return &Server{
		shared: shared, began: time.Now(), cluster: shared.memory.NewCluster(shared.memory.Empty(), nodes-1),
		tracked: map[place][]*Line{}, values: newValues(shared.key, shared.scripts), takers: map[string]string{},
		arrivals: map[string][]string{}, muted: map[string]bool{}, gone: map[string]bool{}, woken: make(chan struct{}, 1),
	}
}

// Dial connects a process to a node.
func (s *Server) Dial(process string, node int) *Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &Line{Process: process, Node: node, server: s, ownToo: true, watcher: &simredis.Conn{}}
	l.conn = &Conn{line: l, changed: make(chan struct{}, 1)}
	s.lines = append(s.lines, l)
	if s.closed {
		l.conn.end()
	}
	return l.conn
}

// Mute cuts a process off: nothing of what it sends takes effect, and nothing reaches it.
func (s *Server) Mute(process string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.muted[process] = true
}

// Desert cuts a process off for good, as when it dies. What it has sent may still take effect.
func (s *Server) Desert(process string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone[process] = true
	for _, l := range s.lines {
		if l.Process == process {
			l.deserted, l.tracks, l.channels = true, false, nil
		}
	}
}

// Wake makes Woken say that somebody has done something.
func (s *Server) Wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// Woken says when a command has arrived, or somebody has called Wake.
func (s *Server) Woken() <-chan struct{} { return s.woken }

// Held are the lines whose first command waits for a decision, in a fixed order.
func (s *Server) Held() []*Line {
	return s.those(func(l *Line) bool { return len(l.queue) > 0 })
}

// Pushing are the lines on which a push waits to be delivered.
func (s *Server) Pushing() []*Line {
	return s.those(func(l *Line) bool { return len(l.pushes) > 0 && !l.deserted })
}

func (s *Server) those(which func(*Line) bool) (lines []*Line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lines {
		if which(l) && !s.muted[l.Process] {
			lines = append(lines, l)
		}
	}
	return sorted(lines)
}

// sorted sorts lines by process and node, and by what they wait with: who connects first is chance.
func sorted(lines []*Line) []*Line {
	arrived := func(l *Line) int {
		if len(l.queue) == 0 {
			return 0
		}
		return l.queue[0].arrived
	}
	slices.SortStableFunc(lines, func(a, b *Line) int {
		return cmp.Or(strings.Compare(a.Process, b.Process), a.Node-b.Node, arrived(a)-arrived(b))
	})
	return lines
}

// Arrivals are the commands that a process has sent since the last call.
func (s *Server) Arrivals(process string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.arrivals[process]
	delete(s.arrivals, process)
	slices.Sort(all) // goroutines of one process have no order
	return all
}

// Advance lets keys expire whose time has come.
func (s *Server) Advance() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	passed := time.Since(s.began) - s.now
	if passed <= 0 {
		return s.refusal()
	}
	s.now += passed
	for i, node := range s.cluster.Servers() {
		before := node.State
		later, err := s.cluster.StateAfter(node, passed)
		if err != nil {
			return err
		}
		if node.State = later; len(later.Keys) == len(before.Keys) {
			continue
		}
		node.State = before
		s.cluster.SetState(node, later) // who watches the key is told
		for _, key := range before.Keys {
			if _, has := later.Key(key.Name); !has {
				s.invalidate(place{i, key.Name}, nil)
			}
		}
	}
	return s.refusal()
}

// refusal is the error of a line that got a command which cannot be answered as a Redis does.
func (s *Server) refusal() error {
	for _, l := range s.lines {
		if l.refused != nil {
			return l.refused
		}
	}
	return nil
}

// NextExpiry is the time until a key expires, 0 if none will.
func (s *Server) NextExpiry() time.Duration { return s.cluster.NextExpiry() }

// Holds gives what each node holds.
func (s *Server) Holds() []*simredis.State { return s.cluster.Contents() }

// Forget lets a node restart empty. Its clients stay connected.
func (s *Server) Forget(node int) {
	s.cluster.SetState(s.cluster.Servers()[node], s.cluster.EmptyState())
}

// Append writes all that the server holds, and all that is on its way, for what tells states apart.
func (s *Server) Append(b []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, state := range s.cluster.Contents() {
		for _, key := range state.Keys {
			b = s.appendRelative(b, key.Name)
			for _, value := range key.Values {
				b = s.appendRelative(append(b, ' '), value)
			}
			b = append(strconv.AppendInt(append(b, ' '), int64(key.TTL), 10), '\n')
		}
	}
	for _, l := range sorted(slices.Clone(s.lines)) {
		if len(l.queue)+len(l.transaction) == 0 && (l.conn.isOver() || !l.tracks && len(l.channels) == 0) {
			continue // how many idle connections there are is the clients' own business
		}
		b = s.appendSent(l.append(b), l.transaction)
		b = s.appendSent(b, l.queue)
		b = s.cluster.AppendWatches(b, l.id())
		for at, lines := range s.tracked {
			if slices.Contains(lines, l) {
				b = s.appendRelative(strconv.AppendInt(append(b, ' '), int64(at.node), 10), at.key)
			}
		}
		b = append(b, '\n')
	}
	return b
}

func (s *Server) appendSent(b []byte, commands []command) []byte {
	for _, c := range commands {
		b = s.appendRelative(append(b, ' '), c.text)
	}
	return b
}

// append writes what a line is, but for what was sent on it.
func (l *Line) append(b []byte) []byte {
	b = strconv.AppendInt(append(append(b, l.Process...), ' '), int64(l.Node), 10)
	for _, is := range [...]bool{l.deserted, l.tracks, l.caching} {
		b = strconv.AppendBool(b, is)
	}
	if len(l.channels)+len(l.pushes) > 0 {
		for _, channel := range l.channels {
			b = l.server.appendRelative(append(b, " on "...), channel)
		}
		for _, push := range l.pushes {
			b = l.server.appendRelative(append(b, " push "...), string(push))
		}
	}
	return b
}

// Close ends all connections, those that are still to come, too.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, l := range s.lines {
		l.queue, l.pushes = nil, nil
		l.conn.end()
	}
}
