package simredis

import (
	"crypto/sha1" //nolint:gosec // as Redis names scripts
	"fmt"
	"slices"
	"strings"
	"time"
)

// State is all that a server holds: a value, shared by all schedules that reach it. Two states are the same if their pointers are.
type State struct {
	Text           string // everything
	Keys           []Key
	Transient      []Key    // of these, those that are not durable
	scripts        []string // loaded, for EVALSHA
	scriptsAskTime bool     // one of them asks for the time of day
	scriptHashes   string   // what Text says of them
	answers        map[query]*Answer
	laterStates    map[time.Duration]*State
	renamedTexts   map[string]string // what Renamed has written
}

// Empty returns the state of a server that holds nothing.
func (m *Simulator) Empty() *State { return m.empty }

// intern gives the one state that holds these keys, with these scripts loaded.
func (m *Simulator) intern(keys []Key, scripts []string) *State {
	var learnt strings.Builder
	for _, script := range scripts {
		fmt.Fprintf(&learnt, "%x\n", sha1.Sum([]byte(script))) //nolint:gosec // as Redis names scripts
	}
	text := formatKeys(keys, func(_, text string) string { return text }) + learnt.String()
	if known, ok := m.states[text]; ok {
		return known
	}
	durable := func(k Key) bool { return m.isDurable(k.Name) }
	asks := func(script string) bool { return asksForTime(strings.ToUpper(script)) }
	s := &State{
		Text: text, Keys: keys, Transient: slices.DeleteFunc(slices.Clone(keys), durable),
		scripts: scripts, scriptsAskTime: slices.ContainsFunc(scripts, asks), scriptHashes: learnt.String(),
		answers: map[query]*Answer{}, laterStates: map[time.Duration]*State{}, renamedTexts: map[string]string{},
	}
	m.states[text] = s
	return s
}

// Renamed writes everything that a server holds, with other names in it. Who asks again with the same id gets the same text.
func (s *State) RenamedText(id string, rename func(key, text string) string) string {
	text, known := s.renamedTexts[id]
	if !known {
		text = formatKeys(s.Keys, rename) + s.scriptHashes
		s.renamedTexts[id] = text
	}
	return text
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

// Same reports whether two states differ in nothing but expiries, and the scripts that are loaded.
func (s *State) SameContent(other *State) bool {
	return s == other || slices.EqualFunc(s.Keys, other.Keys, func(a, b Key) bool { return a.kind == b.kind && a.hasSameValues(b) })
}

// SameKeys reports whether two states differ in no key, expiries included: in nothing but the scripts that are loaded.
func (s *State) SameKeys(other *State) bool {
	return s == other || slices.EqualFunc(s.Keys, other.Keys, func(a, b Key) bool { return a.kind == b.kind && a.hasSameValues(b) && a.TTL == b.TTL })
}

// SameTransient reports whether two states differ in no key that is not durable, kinds and expiries aside.
func (s *State) SameTransient(other *State) bool {
	return slices.EqualFunc(s.Transient, other.Transient, Key.hasSameValues)
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
