package explore

import (
	"bufio"
	"bytes"
	"crypto/sha1" //nolint:gosec // as Redis names scripts
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/proto"
	resp "github.com/alicebob/miniredis/v2/server"

	"lockstep/internal/dao"
	"lockstep/internal/history"
)

// memory is an embedded Redis that never does the same thing twice. What a command answers and leaves behind depends on
// what Redis holds, the time, and the command; so each such case is asked of miniredis once and then remembered. A
// schedule's prefix, run again and again, costs no Lua.
type memory struct {
	server *miniredis.Miniredis
	states map[string]*state // by their text
	loaded *state            // what the server holds at the moment
	cached []string          // the scripts it has loaded at the moment

	published []message // by the command that runs
}

// state is all that a Redis holds: a value, shared by all schedules that reach it.
type state struct {
	text    string // everything, expiries too
	content string // everything but the expiries
	keys    []entry
	scripts []string // loaded, for EVALSHA
	answers map[question]*answer
	later   map[time.Duration]*state
}

// entry is one key. Its values are those of Redis's own reading commands: one for a string, field and value in turn for
// a hash, member and score in turn for a sorted set.
type entry struct {
	name, kind string
	values     []string
	ttl        time.Duration // 0: none
}

type question struct {
	now     time.Duration
	command string // as sent
}

type answer struct {
	reply  []byte // as received
	then   *state
	orders []history.Order // what the command added to the ledger

	published []message
}

func newMemory() (*memory, error) {
	m := &memory{server: miniredis.NewMiniRedis(), states: map[string]*state{}}
	conn, err := m.server.Dial() // makes it ready without a port
	if err != nil {
		return nil, err
	}
	_ = conn.Close() // commands are dispatched without one
	m.server.Server().SetPreHook(func(peer *resp.Peer, command string, args ...string) bool {
		if command != "PUBLISH" || len(args) != 2 {
			return false
		}
		m.published = append(m.published, message{args[0], args[1]})
		peer.WriteInt(1)
		return true
	})
	m.loaded = m.intern(nil)
	return m, nil
}

// ask gives the answer to a command, or to several sent at once.
func (m *memory) ask(s *state, now time.Duration, command []byte) (*answer, error) {
	if known, ok := s.answers[question{now, string(command)}]; ok {
		return known, nil
	}
	if err := m.load(s); err != nil {
		return nil, err
	}
	m.server.SetTime(date(now))
	m.server.HSet(dao.RunKey, "id", runID) // the run is on, in every state
	m.published = nil
	var reply bytes.Buffer
	w := bufio.NewWriter(&reply)
	peer := resp.NewPeer(w)
	sent, err := commands(command)
	if err != nil {
		return nil, err
	}
	for _, args := range sent {
		m.server.Server().Dispatch(peer, args)
		m.remember(args)
	}
	peer.Flush()
	orders, err := m.takeLedger()
	if err != nil {
		return nil, err
	}
	then, err := m.look()
	if err != nil {
		return nil, err
	}
	known := &answer{reply: reply.Bytes(), then: then, orders: orders, published: m.published}
	s.answers[question{now, string(command)}] = known
	return known, nil
}

// commands are those in what was sent at once.
func commands(sent []byte) (all [][]string, _ error) {
	for r := bufio.NewReader(bytes.NewReader(sent)); ; {
		message, err := proto.Read(r)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("a command that is no RESP: %w", err)
		}
		args, err := proto.ReadStrings(message)
		if err != nil {
			return nil, fmt.Errorf("a command that is no list of strings: %w", err)
		}
		all = append(all, args)
	}
}

// remember takes down a script that the server has learnt.
func (m *memory) remember(args []string) {
	if len(args) < 2 {
		return
	}
	script := args[1]
	switch name := strings.ToUpper(args[0]); {
	case name == "SCRIPT" && strings.EqualFold(args[1], "FLUSH"):
		m.cached = nil
		return
	case name == "SCRIPT" && len(args) > 2 && strings.EqualFold(args[1], "LOAD"):
		script = args[2]
	case name != "EVAL":
		return
	}
	if !slices.Contains(m.cached, script) {
		m.cached = append(slices.Clone(m.cached), script)
		slices.Sort(m.cached)
	}
}

// learn makes the server have these scripts loaded, and no others.
func (m *memory) learn(scripts []string) {
	if slices.Equal(m.cached, scripts) {
		return
	}
	peer := resp.NewPeer(bufio.NewWriter(io.Discard))
	m.server.Server().Dispatch(peer, []string{"SCRIPT", "FLUSH"})
	for _, script := range scripts {
		m.server.Server().Dispatch(peer, []string{"SCRIPT", "LOAD", script})
	}
	m.cached = scripts
}

// pass lets time pass, and keys expire.
func (m *memory) pass(s *state, d time.Duration) (*state, error) {
	if then, ok := s.later[d]; ok {
		return then, nil
	}
	if err := m.load(s); err != nil {
		return nil, err
	}
	m.server.FastForward(d)
	then, err := m.look()
	if err != nil {
		return nil, err
	}
	s.later[d] = then
	return then, nil
}

// takeLedger reads the orders that were just written, and empties the ledger: nobody else reads it, and states stay few.
func (m *memory) takeLedger() (orders []history.Order, _ error) {
	m.server.Del(dao.RunKey)
	newest, _ := dao.OrdersKeys(runID)
	if !m.server.Exists(newest) {
		return nil, nil
	}
	ids, err := m.server.HKeys(newest)
	if err != nil {
		return nil, fmt.Errorf("the ledger %s: %w", newest, err)
	}
	for _, id := range ids {
		var order history.Order
		if err := json.Unmarshal([]byte(m.server.HGet(newest, id)), &order); err != nil {
			return nil, fmt.Errorf("the ledger %s: %w", newest, err)
		}
		orders = append(orders, order)
	}
	m.server.Del(newest)
	return orders, nil
}

// look reads what the server holds.
func (m *memory) look() (*state, error) {
	db := m.server.DB(0)
	var entries []entry
	for _, name := range db.Keys() {
		e := entry{name: name, kind: db.Type(name), ttl: db.TTL(name)}
		switch e.kind {
		case "string":
			value, err := db.Get(name)
			if err != nil {
				return nil, err
			}
			e.values = []string{value}
		case "hash":
			fields, err := db.HKeys(name)
			if err != nil {
				return nil, err
			}
			for _, field := range fields {
				e.values = append(e.values, field, db.HGet(name, field))
			}
		case "list":
			values, err := db.List(name)
			if err != nil {
				return nil, err
			}
			e.values = values
		case "set":
			members, err := db.Members(name)
			if err != nil {
				return nil, err
			}
			e.values = members
		case "zset":
			scores, err := db.SortedSet(name)
			if err != nil {
				return nil, err
			}
			for member, score := range scores {
				e.values = append(e.values, fmt.Sprintf("%s\x00%v", member, score))
			}
			slices.Sort(e.values)
		default:
			return nil, fmt.Errorf("the key %s is a %s: the explorer keeps strings, hashes, lists, sets and sorted sets alone", name, e.kind)
		}
		entries = append(entries, e)
	}
	m.loaded = m.intern(entries)
	return m.loaded, nil
}

// load makes the server hold s.
func (m *memory) load(s *state) error {
	if m.loaded == s {
		return nil
	}
	m.loaded = nil
	m.learn(s.scripts)
	db := m.server.DB(0)
	db.FlushDB()
	for _, e := range s.keys {
		var err error
		switch e.kind {
		case "string":
			err = db.Set(e.name, e.values[0])
		case "hash":
			db.HSet(e.name, e.values...)
		case "list":
			_, err = db.Push(e.name, e.values...)
		case "set":
			_, err = db.SetAdd(e.name, e.values...)
		case "zset":
			for _, value := range e.values {
				var score float64
				member, text, _ := strings.Cut(value, "\x00")
				if _, err = fmt.Sscan(text, &score); err == nil {
					_, err = db.ZAdd(e.name, score, member)
				}
			}
		}
		if err != nil {
			return fmt.Errorf("the key %s: %w", e.name, err)
		}
		if e.ttl > 0 {
			db.SetTTL(e.name, e.ttl)
		}
	}
	m.loaded = s
	return nil
}

// intern gives the one state that holds these keys.
func (m *memory) intern(entries []entry) *state {
	var content, ttls strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&content, "%q %s %q\n", e.name, e.kind, e.values)
		fmt.Fprintf(&ttls, "%d\n", e.ttl)
	}
	for _, script := range m.cached {
		fmt.Fprintf(&ttls, "%x\n", sha1.Sum([]byte(script))) //nolint:gosec // as Redis names scripts
	}
	text := content.String() + ttls.String()
	if known, ok := m.states[text]; ok {
		return known
	}
	s := &state{
		text: text, content: content.String(), keys: entries, scripts: m.cached,
		answers: map[question]*answer{}, later: map[time.Duration]*state{},
	}
	m.states[text] = s
	return s
}

// key finds a key.
func (s *state) key(name string) (entry, bool) {
	for _, e := range s.keys {
		if e.name == name {
			return e, true
		}
	}
	return entry{}, false
}

// stock is what is left to sell, "" where nothing says so.
func (s *state) stock() string {
	if e, ok := s.key(dao.InventoryKey); ok {
		return e.values[0]
	}
	return ""
}

// nextExpiry is the time until the first key expires, 0 if none will.
func (s *state) nextExpiry() time.Duration {
	var next time.Duration
	for _, e := range s.keys {
		if e.ttl > 0 && (next == 0 || e.ttl < next) {
			next = e.ttl
		}
	}
	return next
}
