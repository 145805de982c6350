// Package simredis is a simulated Redis: one or more servers whose content is an immutable value.
//
// What a command answers and leaves behind depends on the content, the time and the command. A Memory asks miniredis once for each such
// case and then remembers the answer, so the prefix of a schedule, run again and again, costs no Lua. A Cluster is the servers of one
// schedule. A Client is a real go-redis client: its connections end in memory, and a Network decides when its commands go out. What it
// makes of a command and of a reply is remembered, too.
package simredis

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/proto"
	resp "github.com/alicebob/miniredis/v2/server"
)

// Memory is an embedded Redis that remembers all it was ever asked.
type Simulator struct {
	ClockStart time.Time // what its clock says when a schedule begins: that of Date, unless this is changed before the first

	server    *miniredis.Miniredis
	isDurable func(key string) bool
	states    map[string]*State // by their text

	commands       map[string]*Command       // by their text
	cachedCommands map[string]*cachedCommand // by their words
	keyBuffer      []byte                    // for words

	empty         *State
	loaded        *State   // what the server holds at the moment
	wantedScripts []string // the scripts that it is to have loaded
	loadedScripts []string // and those that it has

	published     []Message // by the command that runs
	inTransaction bool      // that is part of a transaction, and waits for its end
	refusal       error     // of what that contains
}

// Message was published to a channel.
type Message struct{ Channel, Text string }

type query struct {
	now     time.Duration // 0 if it does not matter
	command *Command
}

// Answer is what a command did.
type Answer struct {
	Reply     []byte // as received
	NewState  *State
	Published []Message
}

// NewMemory makes a memory of servers of which a failover loses no key that is durable.
func NewMemory(durable func(key string) bool) (*Simulator, error) {
	m := &Simulator{
		ClockStart: VirtualTime(0), server: miniredis.NewMiniRedis(), isDurable: durable,
		states: map[string]*State{}, commands: map[string]*Command{}, cachedCommands: map[string]*cachedCommand{},
	}
	conn, err := m.server.Dial() // makes it ready without a port
	if err != nil {
		return nil, err
	}
	_ = conn.Close() // commands are dispatched without one
	m.server.Server().SetPreHook(func(peer *resp.Peer, command string, args ...string) bool {
		if m.refuseUnsupported(peer, command, args) {
			return true
		}
		if command == "SET" {
			return m.answerConditionalSet(peer, args)
		}
		if command != "PUBLISH" || len(args) != 2 {
			return false
		}
		m.published = append(m.published, Message{args[0], args[1]})
		if m.inTransaction {
			return false
		}
		peer.WriteInt(1)
		return true
	})
	m.empty = m.intern(nil, m.wantedScripts)
	m.loaded = m.empty
	return m, nil
}

// Size is how many contents and commands it remembers.
func (m *Simulator) CacheSize() int { return len(m.states) + len(m.commands) }

// Close ends it.
func (m *Simulator) Close() { m.server.Close() }

// answer gives the answer to a command, or to several sent at once.
func (m *Simulator) answer(s *State, now time.Duration, command *Command) (*Answer, error) {
	asked := query{0, command}
	if command.dependsOnTime || command.usesScripts && s.scriptsAskTime {
		asked.now = now
	}
	if known, ok := s.answers[asked]; ok {
		return known, nil
	}
	if err := m.load(s); err != nil {
		return nil, err
	}
	reply, err := m.dispatch(now, command)
	if err != nil {
		return nil, err
	}
	then, err := m.readState()
	if err != nil {
		return nil, err
	}
	known := &Answer{Reply: reply, NewState: then, Published: m.published}
	s.answers[asked] = known
	return known, nil
}

// After returns what a server holds that held s, after these commands.
func (m *Simulator) StateAfter(s *State, commands ...[]string) (*State, error) {
	for _, words := range commands {
		a, err := m.answer(s, 0, m.command([]byte(proto.Strings(words...))))
		if err != nil {
			return nil, err
		}
		s = a.NewState
	}
	return s, nil
}

// dispatch gives a command to the server, and gives its reply.
func (m *Simulator) dispatch(now time.Duration, command *Command) ([]byte, error) {
	if command.malformed != nil {
		return nil, command.malformed
	}
	commands := command.parsed
	if err := checkTransaction(commands); err != nil {
		return nil, err
	}
	if command.usesScripts {
		m.loadScripts()
	}
	m.server.SetTime(m.ClockStart.Add(now))
	m.loaded, m.published, m.refusal = nil, nil, nil
	var reply bytes.Buffer
	peer := resp.NewPeer(bufio.NewWriter(&reply))
	for i, args := range commands {
		m.inTransaction = i > 0 && i < len(commands)-1
		m.server.Server().Dispatch(peer, slices.Clone(args))
		m.recordScript(args)
	}
	peer.Flush()
	return withRedisErrors(reply.Bytes()), cmp.Or(m.refusal, checkUnderstood(commands, reply.Bytes()))
}

// pass lets time pass, and keys expire.
func (m *Simulator) stateLater(s *State, d time.Duration) (*State, error) {
	if then, ok := s.laterStates[d]; ok {
		return then, nil
	}
	if err := m.load(s); err != nil {
		return nil, err
	}
	m.server.FastForward(d)
	then, err := m.readState()
	if err != nil {
		return nil, err
	}
	s.laterStates[d] = then
	return then, nil
}

// look reads what the server holds.
func (m *Simulator) readState() (*State, error) {
	db := m.server.DB(0)
	var keys []Key
	for _, name := range db.Keys() {
		k, err := readKey(db, name)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	m.loaded = m.intern(keys, m.wantedScripts)
	return m.loaded, nil
}

// load makes the server hold s.
func (m *Simulator) load(s *State) error {
	if m.loaded == s {
		return nil
	}
	m.loaded = nil
	m.wantedScripts = s.scripts
	db := m.server.DB(0)
	db.FlushDB()
	for _, k := range s.Keys {
		if err := k.write(db); err != nil {
			return fmt.Errorf("the key %s: %w", k.Name, err)
		}
	}
	m.loaded = s
	return nil
}
