// Package simredis simulates Redis: one or more servers whose state is an immutable value.
//
// What a command answers and changes depends on the state, the time and the command. A Simulator asks miniredis once for each
// combination, and caches the answer, so that the prefix of a schedule, which runs again and again, executes no Lua. A Cluster holds
// the servers of one schedule. A Client is a real go-redis client: its connections end in memory, and a Network decides when its commands
// take effect. What the client writes and parses is cached as well.
//
// Begin with Simulator, Cluster and Client.
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

// Simulator executes commands on an embedded miniredis, and caches every answer.
type Simulator struct {
	ClockStart time.Time // time on the servers' clocks when a schedule begins: VirtualTime(0), unless changed before the first command

	server    *miniredis.Miniredis  // embedded miniredis
	isDurable func(key string) bool // reports whether a failover keeps the key
	states    map[string]*State     // all states so far, by State.Text

	commands       map[string]*Command       // all commands so far, by Command.Text
	cachedCommands map[string]*cachedCommand // commands in the client's encoding, with their parsed replies, by cacheKey
	keyBuffer      []byte                    // reused by cacheKey

	empty         *State   // state of a server without keys
	currentState  *State   // state that the embedded server holds now; nil: unknown
	wantedScripts []string // scripts that the embedded server should have loaded
	loadedScripts []string // scripts that the embedded server has loaded

	published     []Message // messages published by the command that runs
	inTransaction bool      // the command that runs is between MULTI and EXEC
	refusal       error     // first reason to refuse a part of the command that runs; nil: none
}

// Message is a message that was published on a channel.
type Message struct{ Channel, Text string }

// query is the key of a cached answer in a state: all else that the answer depends on.
type query struct {
	now     time.Duration // virtual time; 0 if the answer does not depend on it
	command *Command
}

// Answer is the reply and the effect of a command.
type Answer struct {
	Reply     []byte    // RESP bytes
	NewState  *State    // state of the server after the command
	Published []Message // messages that the command published, in order
}

// NewSimulator creates a simulator. isDurable reports whether a failover keeps a key.
func NewSimulator(isDurable func(key string) bool) (*Simulator, error) {
	sim := &Simulator{
		ClockStart: VirtualTime(0), server: miniredis.NewMiniRedis(), isDurable: isDurable,
		states: map[string]*State{}, commands: map[string]*Command{}, cachedCommands: map[string]*cachedCommand{},
	}
	conn, err := sim.server.Dial() // initializes the server without opening a port
	if err != nil {
		return nil, err
	}
	_ = conn.Close() // commands are dispatched without a connection
	sim.server.Server().SetPreHook(func(peer *resp.Peer, command string, args ...string) bool {
		if sim.refuseUnsupported(peer, command, args) {
			return true
		}
		if command == "SET" {
			return sim.answerConditionalSet(peer, args)
		}
		if command != "PUBLISH" || len(args) != 2 {
			return false
		}
		sim.published = append(sim.published, Message{args[0], args[1]})
		if sim.inTransaction {
			return false
		}
		peer.WriteInt(1)
		return true
	})
	sim.empty = sim.intern(nil, sim.wantedScripts)
	sim.currentState = sim.empty
	return sim, nil
}

// CacheSize returns the number of cached states and commands.
func (sim *Simulator) CacheSize() int { return len(sim.states) + len(sim.commands) }

// Close closes the embedded server.
func (sim *Simulator) Close() { sim.server.Close() }

// answer returns the answer to a command that a server in state s receives at the virtual time now.
func (sim *Simulator) answer(s *State, now time.Duration, command *Command) (*Answer, error) {
	key := query{0, command}
	if command.dependsOnTime || command.usesScripts && s.scriptsAskTime {
		key.now = now
	}
	if answer, ok := s.answers[key]; ok {
		return answer, nil
	}
	if err := sim.load(s); err != nil {
		return nil, err
	}
	reply, err := sim.dispatch(now, command)
	if err != nil {
		return nil, err
	}
	newState, err := sim.readState()
	if err != nil {
		return nil, err
	}
	answer := &Answer{Reply: reply, NewState: newState, Published: sim.published}
	s.answers[key] = answer
	return answer, nil
}

// StateAfter returns the state of a server in state s after these commands.
func (sim *Simulator) StateAfter(s *State, commands ...[]string) (*State, error) {
	for _, words := range commands {
		a, err := sim.answer(s, 0, sim.command([]byte(proto.Strings(words...))))
		if err != nil {
			return nil, err
		}
		s = a.NewState
	}
	return s, nil
}

// dispatch runs a command on the embedded server, and returns its reply.
func (sim *Simulator) dispatch(now time.Duration, command *Command) ([]byte, error) {
	if command.malformed != nil {
		return nil, command.malformed
	}
	commands := command.parsed
	if err := checkTransaction(commands); err != nil {
		return nil, err
	}
	if command.usesScripts {
		sim.loadScripts()
	}
	sim.server.SetTime(sim.ClockStart.Add(now))
	sim.currentState, sim.published, sim.refusal = nil, nil, nil
	var reply bytes.Buffer
	peer := resp.NewPeer(bufio.NewWriter(&reply))
	for i, args := range commands {
		sim.inTransaction = i > 0 && i < len(commands)-1
		sim.server.Server().Dispatch(peer, slices.Clone(args))
		sim.recordScript(args)
	}
	peer.Flush()
	return withRedisErrors(reply.Bytes()), cmp.Or(sim.refusal, checkUnderstood(commands, reply.Bytes()))
}

// stateLater returns the state of a server in state s after a time d without commands, in which keys may expire.
func (sim *Simulator) stateLater(s *State, d time.Duration) (*State, error) {
	if later, ok := s.laterStates[d]; ok {
		return later, nil
	}
	if err := sim.load(s); err != nil {
		return nil, err
	}
	sim.server.FastForward(d)
	later, err := sim.readState()
	if err != nil {
		return nil, err
	}
	s.laterStates[d] = later
	return later, nil
}

// readState returns the state of the embedded server.
func (sim *Simulator) readState() (*State, error) {
	db := sim.server.DB(0)
	var keys []Key
	for _, name := range db.Keys() {
		k, err := readKey(db, name)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	sim.currentState = sim.intern(keys, sim.wantedScripts)
	return sim.currentState, nil
}

// load puts the embedded server into state s.
func (sim *Simulator) load(s *State) error {
	if sim.currentState == s {
		return nil
	}
	sim.currentState = nil
	sim.wantedScripts = s.scripts
	db := sim.server.DB(0)
	db.FlushDB()
	for _, k := range s.Keys {
		if err := k.write(db); err != nil {
			return fmt.Errorf("the key %s: %w", k.Name, err)
		}
	}
	sim.currentState = s
	return nil
}
