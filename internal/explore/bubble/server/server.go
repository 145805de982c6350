// Package server simulates the Redis nodes of one run of package bubble. Clients connect in memory (Server.Dial), and the server holds
// every command that concerns data until the explorer decides its outcome: executed and answered, executed without a reply, or lost.
// Commands that concern only a connection (HELLO, CLIENT, PING, EVALSHA of an unknown script) are answered at once.
//
// Begin with Server, and with Conn, the server's end of a connection. Package simredis, by means of miniredis, determines what
// a command does; client tracking, which miniredis lacks, is implemented here (tracking.go).
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

// Server simulates the Redis of one run: one node, or several independent ones.
type Server struct {
	shared *Shared   // data that all servers have in common
	start  time.Time // the bubble's time at which the server was created

	mu           sync.Mutex          // guards the fields below, and those of the connections, while code under test runs
	expiredUntil time.Duration       // time since start up to which expired keys have been removed
	sentCommands int                 // number of commands received so far
	cluster      *simredis.Cluster   // nodes
	closed       bool                // Close was called
	conns        []*Conn             // all connections, in the order of Dial
	trackers     map[nodeKey][]*Conn // connections that have read a key and track it
	values       sentValues          // random values that clients have sent
	firstOwners  map[string]string   // first process that took the lock, by the owner value it used
	sharedOwner  string              // owner value used by several processes; "": none
	usesTracking bool                // a client has sent CLIENT TRACKING
	arrivals     map[string][]string // texts of the commands since the last call of Arrivals, by process
	paused       map[string]bool     // names of paused processes
	crashed      map[string]bool     // names of crashed processes
	activity     chan struct{}       // signals an arrived command or a call of SignalActivity; capacity 1
}

// nodeKey identifies a key on a node.
type nodeKey struct {
	node int    // index of the node, from 0
	key  string // name of the key
}

// Conn is the server's end of a client's connection.
type Conn struct {
	Process string // name of the client's process
	Node    int    // index of the node, from 0

	server             *Server     // server to which the connection belongs
	client             *ClientConn // client's end
	queue              []command   // received commands without an answer; the first one is held
	pendingPushes      [][]byte    // RESP messages that were not delivered to the client yet
	channels           []string    // subscribed pub/sub channels
	isTracking         bool        // reads are tracked: CLIENT TRACKING ON without OPTIN
	notifiesOwnChanges bool        // tracking also reports the client's own changes: no NOLOOP
	tracksNextRead     bool        // the keys that the next command reads are tracked: CLIENT CACHING YES
	usesRESP3          bool        // the client has sent HELLO 3
	closedByClient     bool        // the client has closed the connection, or its process has crashed

	transaction []command      // MULTI and the commands queued since then; nil: no transaction
	watcher     *simredis.Conn // identity for WATCH
	unsupported error          // first command that the simulation cannot answer; nil: none
}

// command is a command that a client has sent.
type command struct {
	words  []string // name and arguments
	text   string   // words joined by blanks, with a script's name instead of its text
	number int      // 1-based position among all commands of the run
}

// New returns a server with the given number of nodes. It must be called in the bubble whose clock it is to follow.
func New(shared *Shared, nodes int) *Server {
	return &Server{
		shared: shared, start: time.Now(), cluster: shared.simulator.NewCluster(shared.simulator.Empty(), nodes-1),
		trackers: map[nodeKey][]*Conn{}, values: newSentValues(shared.key, shared.scripts), firstOwners: map[string]string{},
		arrivals: map[string][]string{}, paused: map[string]bool{}, crashed: map[string]bool{}, activity: make(chan struct{}, 1),
	}
}

// Dial connects a process to a node, counted from 0.
func (s *Server) Dial(process string, node int) *ClientConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	conn := &Conn{Process: process, Node: node, server: s, notifiesOwnChanges: true, watcher: &simredis.Conn{}}
	conn.client = &ClientConn{peer: conn, changed: make(chan struct{}, 1)}
	s.conns = append(s.conns, conn)
	if s.closed {
		conn.client.breakOff()
	}
	return conn.client
}

// Pause suspends a process: its commands are not offered for execution, and no push reaches it.
func (s *Server) Pause(process string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused[process] = true
}

// Crash cuts off a process for good. The commands that it has sent may still take effect.
func (s *Server) Crash(process string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crashed[process] = true
	for _, conn := range s.conns {
		if conn.Process == process {
			conn.closedByClient, conn.isTracking, conn.channels = true, false, nil
		}
	}
}

// SignalActivity makes the channel of Activity readable.
func (s *Server) SignalActivity() {
	select {
	case s.activity <- struct{}{}:
	default:
	}
}

// Activity returns a channel that is readable after a command has arrived or SignalActivity was called.
func (s *Server) Activity() <-chan struct{} { return s.activity }

// HeldConns returns the connections with a held command, in an order that is the same in every run.
func (s *Server) HeldConns() []*Conn {
	return s.connsWhere(func(conn *Conn) bool { return len(conn.queue) > 0 })
}

// PushingConns returns the connections with undelivered pushes, in an order that is the same in every run.
func (s *Server) PushingConns() []*Conn {
	return s.connsWhere(func(conn *Conn) bool { return len(conn.pendingPushes) > 0 && !conn.closedByClient })
}

// connsWhere returns the connections that satisfy a condition, sorted, and without those of paused processes.
func (s *Server) connsWhere(matches func(*Conn) bool) (conns []*Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		if matches(conn) && !s.paused[conn.Process] {
			conns = append(conns, conn)
		}
	}
	return sortConns(conns)
}

// sortConns sorts connections by process, node and held command. It does not keep the order of Dial, which depends on chance.
func sortConns(conns []*Conn) []*Conn {
	arrived := func(conn *Conn) int {
		if len(conn.queue) == 0 {
			return 0
		}
		return conn.queue[0].number
	}
	slices.SortStableFunc(conns, func(a, b *Conn) int {
		return cmp.Or(strings.Compare(a.Process, b.Process), a.Node-b.Node, arrived(a)-arrived(b))
	})
	return conns
}

// Arrivals returns the texts of the commands that a process has sent since the last call.
func (s *Server) Arrivals(process string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.arrivals[process]
	delete(s.arrivals, process)
	slices.Sort(all) // Sorted, because the goroutines of one process run in any order.
	return all
}

// Advance removes the keys that have expired by now. It fails if a client has sent a command that the simulation does not support.
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
		s.cluster.SetState(node, later) // SetState compares with node.State, and invalidates the WATCH of each expired key
		for _, key := range before.Keys {
			if _, ok := later.Key(key.Name); !ok {
				s.invalidate(nodeKey{i, key.Name}, nil)
			}
		}
	}
	return s.unsupportedCommand()
}

// unsupportedCommand returns the error of the first unsupported command; nil: none.
func (s *Server) unsupportedCommand() error {
	for _, conn := range s.conns {
		if conn.unsupported != nil {
			return conn.unsupported
		}
	}
	return nil
}

// NextExpiry returns the time until the next key expires; 0: no key has an expiry.
func (s *Server) NextExpiry() time.Duration { return s.cluster.NextExpiry() }

// Contents returns the state of each node.
func (s *Server) Contents() []*simredis.State { return s.cluster.Contents() }

// RestartEmpty deletes all keys of a node. Its clients stay connected.
func (s *Server) RestartEmpty(node int) {
	s.cluster.SetState(s.cluster.Servers()[node], s.cluster.EmptyState())
}

// AppendState appends the contents of the nodes and the messages in flight, for the hash of a state.
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
	for _, conn := range sortConns(slices.Clone(s.conns)) {
		if len(conn.queue)+len(conn.transaction) == 0 && (conn.client.isOver() || !conn.isTracking && len(conn.channels) == 0) {
			continue // Idle connections do not influence what follows.
		}
		b = s.appendSent(conn.appendState(b), conn.transaction)
		b = s.appendSent(b, conn.queue)
		b = s.cluster.AppendWatches(b, conn.id())
		for key, conns := range s.trackers {
			if slices.Contains(conns, conn) {
				b = s.appendRelative(strconv.AppendInt(append(b, ' '), int64(key.node), 10), key.key)
			}
		}
		b = append(b, '\n')
	}
	return b
}

// appendSent appends the texts of commands.
func (s *Server) appendSent(b []byte, commands []command) []byte {
	for _, c := range commands {
		b = s.appendRelative(append(b, ' '), c.text)
	}
	return b
}

// appendState appends the state of a connection without its commands.
func (sc *Conn) appendState(b []byte) []byte {
	b = strconv.AppendInt(append(append(b, sc.Process...), ' '), int64(sc.Node), 10)
	for _, flag := range [...]bool{sc.closedByClient, sc.isTracking, sc.tracksNextRead} {
		b = strconv.AppendBool(b, flag)
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

// Close breaks all connections. Later connections are broken as soon as they are dialed.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, conn := range s.conns {
		conn.queue, conn.pendingPushes = nil, nil
		conn.client.breakOff()
	}
}
