package simredis

import (
	"crypto/sha1" //nolint:gosec // as Redis names scripts
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/dao"
)

// State is all that a server holds: a value, shared by all schedules that reach it. Two states are the same if their pointers are.
type State struct {
	Text    string // everything, expiries too
	content string // everything but the expiries
	locks   string // of that, the names and values that are not the shop's
	Keys    []Key
	scripts []string // loaded, for EVALSHA
	timed   bool     // one of them asks for the time of day
	learnt  string   // what Text says of them
	answers map[question]*Answer
	later   map[time.Duration]*State

	renamed  map[string]string // what Renamed has written
	promoted map[*State]*State // what a master that holds this is followed by, if its replica holds that
}

// Empty returns the state of a server that holds nothing.
func (m *Memory) Empty() *State { return m.empty }

// WithStock returns the state of a server that holds the stock, and nothing else, before it has learnt any script.
func (m *Memory) WithStock(stock int) *State {
	return m.intern([]Key{{Name: dao.InventoryKey, kind: "string", Values: []string{fmt.Sprint(stock)}}}, m.cached)
}

// intern gives the one state that holds these keys, with these scripts loaded.
func (m *Memory) intern(keys []Key, scripts []string) *State {
	var content, locks, ttls, learnt strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&content, "%q %s %q\n", k.Name, k.kind, k.Values)
		fmt.Fprintf(&ttls, "%d\n", k.TTL)
		if !k.IsShops() {
			fmt.Fprintf(&locks, "%q %q\n", k.Name, k.Values)
		}
	}
	for _, script := range scripts {
		fmt.Fprintf(&learnt, "%x\n", sha1.Sum([]byte(script))) //nolint:gosec // as Redis names scripts
	}
	text := content.String() + ttls.String() + learnt.String()
	if known, ok := m.states[text]; ok {
		return known
	}
	asks := func(script string) bool { return timed(strings.ToUpper(script)) }
	s := &State{
		timed: slices.ContainsFunc(scripts, asks),
		Text:  text, content: content.String(), locks: locks.String(), Keys: keys, scripts: scripts, learnt: learnt.String(),
		answers: map[question]*Answer{}, later: map[time.Duration]*State{}, renamed: map[string]string{}, promoted: map[*State]*State{},
	}
	m.states[text] = s
	return s
}

// Key finds a key.
func (s *State) Key(name string) (Key, bool) {
	for _, k := range s.Keys {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

// Same reports whether two states differ in nothing but expiries.
func (s *State) Same(other *State) bool { return s.content == other.content }

// SameLocks reports whether two states differ in nothing that is the lock's, kinds and expiries aside.
func (s *State) SameLocks(other *State) bool { return s.locks == other.locks }

// Stock returns what is left to sell, "" if the server does not hold it.
func (s *State) Stock() string {
	if k, ok := s.Key(dao.InventoryKey); ok {
		return k.Values[0]
	}
	return ""
}

// nextExpiry returns the time until the first key expires, 0 if none will.
func (s *State) nextExpiry() time.Duration {
	var next time.Duration
	for _, k := range s.Keys {
		if k.TTL > 0 && (next == 0 || k.TTL < next) {
			next = k.TTL
		}
	}
	return next
}
