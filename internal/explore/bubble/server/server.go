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
	start  time.Time

	mu           sync.Mutex
	expiredUntil time.Duration // up to which keys have expired
	sentCommands int           // commands
	cluster      *simredis.Cluster
	closed       bool
	conns        []*ServerConn // in the order of their making
	tracked      map[nodeKey][]*ServerConn
	values       sentValues
	firstOwners  map[string]string   // by a value of the lock that looks like an owner's: the process that took the lock with it first
	sharedOwner  string              // a value with which several processes have taken the lock
	usesTracking bool                // somebody has asked to be told of changes
	arrivals     map[string][]string // of commands since they were last taken, by process
	paused       map[string]bool     // processes that are paused
	crashed      map[string]bool     // that have crashed
	activity     chan struct{}       // somebody has done something
}

// place is a key on a node.
type nodeKey struct {
	node int
	key  string
}

// Line is a connection, as the server sees it.
type ServerConn struct {
	Process string
	Node    int

	server             *Server
	client             *ClientConn
	queue              []command // sent, and not answered yet
	pendingPushes      [][]byte  // not sent yet
	channels           []string  // that it is subscribed to
	isTracking         bool
	notifiesOwnChanges bool // it hears of what it changes itself, too
	tracksNextRead     bool // what the next command reads is tracked
	usesRESP3          bool
	closedByClient     bool // the client has closed it

	transaction []command      // since MULTI, which is its first
	watcher     *simredis.Conn // who WATCHes
	unsupported error          // a command that is not like that of a Redis
}

// command is one that was sent.
type command struct {
	words  []string
	text   string // of a script, what it is for, its keys and its arguments
	number int    // after so many others
}

// New makes one with so many nodes, in a bubble.
func New(shared *Shared, nodes int) *Server {
	return &Server{
		shared: shared, start: time.Now(), cluster: shared.simulator.NewCluster(shared.simulator.Empty(), nodes-1),
		tracked: map[nodeKey][]*ServerConn{}, values: newValues(shared.key, shared.scripts), firstOwners: map[string]string{},
		arrivals: map[string][]string{}, paused: map[string]bool{}, crashed: map[string]bool{}, activity: make(chan struct{}, 1),
	}
}

// Dial connects a process to a node.
func (s *Server) Dial(process string, node int) *ClientConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &ServerConn{Process: process, Node: node, server: s, notifiesOwnChanges: true, watcher: &simredis.Conn{}}
	l.client = &ClientConn{peer: l, changed: make(chan struct{}, 1)}
	s.conns = append(s.conns, l)
	if s.closed {
		l.client.breakOff()
	}
	return l.client
}

// Mute cuts a process off: nothing of what it sends takes effect, and nothing reaches it.
func (s *Server) Pause(process string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused[process] = true
}

// Desert cuts a process off for good, as when it dies. What it has sent may still take effect.
func (s *Server) Crash(process string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashed[process] = true
	for _, l := range s.conns {
		if l.Process == process {
			l.closedByClient, l.isTracking, l.channels = true, false, nil
		}
	}
}

// Wake makes Woken say that somebody has done something.
func (s *Server) SignalActivity() {
	select {
	case s.activity <- struct{}{}:
	default:
	}
}

// Woken says when a command has arrived, or somebody has called Wake.
func (s *Server) Activity() <-chan struct{} { return s.activity }

// Held are the lines whose first command waits for a decision, in a fixed order.
func (s *Server) HeldConns() []*ServerConn {
	return s.connsWhere(func(l *ServerConn) bool { return len(l.queue) > 0 })
}

// Pushing are the lines on which a push waits to be delivered.
func (s *Server) PushingConns() []*ServerConn {
	return s.connsWhere(func(l *ServerConn) bool { return len(l.pendingPushes) > 0 && !l.closedByClient })
}

func (s *Server) connsWhere(which func(*ServerConn) bool) (lines []*ServerConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.conns {
		if which(l) && !s.paused[l.Process] {
			lines = append(lines, l)
		}
	}
	return sortConns(lines)
}

// sorted sorts lines by process and node, and by what they wait with: who connects first is chance.
func sortConns(lines []*ServerConn) []*ServerConn {
	arrived := func(l *ServerConn) int {
		if len(l.queue) == 0 {
			return 0
		}
		return l.queue[0].number
	}
	slices.SortStableFunc(lines, func(a, b *ServerConn) int {
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
	passed := time.Since(s.start) - s.expiredUntil
	if passed <= 0 {
		return s.unsupportedCommand()
	}
	s.expiredUntil += passed
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
				s.invalidate(nodeKey{i, key.Name}, nil)
			}
		}
	}
	return s.unsupportedCommand()
}

// refusal is the error of a line that got a command which cannot be answered as a Redis does.
func (s *Server) unsupportedCommand() error {
	for _, l := range s.conns {
		if l.unsupported != nil {
			return l.unsupported
		}
	}
	return nil
}

// NextExpiry is the time until a key expires, 0 if none will.
func (s *Server) NextExpiry() time.Duration { return s.cluster.NextExpiry() }

// Holds gives what each node holds.
func (s *Server) Contents() []*simredis.State { return s.cluster.Contents() }

// Forget lets a node restart empty. Its clients stay connected.
func (s *Server) RestartEmpty(node int) {
	s.cluster.SetState(s.cluster.Servers()[node], s.cluster.EmptyState())
}

// Append writes all that the server holds, and all that is on its way, for what tells states apart.
func (s *Server) AppendState(b []byte) []byte {
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
	for _, l := range sortConns(slices.Clone(s.conns)) {
		if len(l.queue)+len(l.transaction) == 0 && (l.client.isOver() || !l.isTracking && len(l.channels) == 0) {
			continue // how many idle connections there are is the clients' own business
		}
		b = s.appendSent(l.appendState(b), l.transaction)
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
func (sc *ServerConn) appendState(b []byte) []byte {
	b = strconv.AppendInt(append(append(b, sc.Process...), ' '), int64(sc.Node), 10)
	for _, is := range [...]bool{sc.closedByClient, sc.isTracking, sc.tracksNextRead} {
		b = strconv.AppendBool(b, is)
	}
	if len(sc.channels)+len(sc.pendingPushes) > 0 {
		for _, channel := range sc.channels {
			b = sc.server.appendRelative(append(b, " on "...), channel)
		}
		for _, push := range sc.pendingPushes {
			b = sc.server.appendRelative(append(b, " push "...), string(push))
		}
	}
	return b
}

// Close ends all connections, those that are still to come, too.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, l := range s.conns {
		l.queue, l.pendingPushes = nil, nil
		l.client.breakOff()
	}
}
