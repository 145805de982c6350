package simredis

import (
	"crypto/sha1" //nolint:gosec // Redis's name of a script
	"fmt"
	"slices"
	"strings"
	"time"
)

// State is everything that a server holds. It is immutable, and all schedules that reach it share it: two states are equal if and only if
// their pointers are.
type State struct {
	Text           string                   // serialized state
	Keys           []Key                    // all keys, sorted by name
	Transient      []Key                    // keys that a failover may lose
	scripts        []string                 // scripts loaded for EVALSHA, sorted
	scriptsAskTime bool                     // one of the scripts asks for the time of day
	scriptHashes   string                   // part of Text that lists the scripts
	answers        map[query]*Answer        // cached answers to commands in this state
	laterStates    map[time.Duration]*State // cached later states, by the time without commands
	renamedTexts   map[string]string        // results of RenamedText, by the id of the rename function
}

// Empty returns the state of a server without keys and scripts.
func (sim *Simulator) Empty() *State { return sim.empty }

// intern returns the State with these keys and loaded scripts, and creates it the first time.
func (sim *Simulator) intern(keys []Key, scripts []string) *State {
	var scriptHashes strings.Builder
	for _, script := range scripts {
		fmt.Fprintf(&scriptHashes, "%x\n", sha1.Sum([]byte(script))) //nolint:gosec // Redis's name of a script
	}
	text := formatKeys(keys, func(_, text string) string { return text }) + scriptHashes.String()
	if state, ok := sim.states[text]; ok {
		return state
	}
	durable := func(k Key) bool { return sim.isDurable(k.Name) }
	isDependent := func(script string) bool { return isTimeDependent(strings.ToUpper(script)) }
	s := &State{
		Text: text, Keys: keys, Transient: slices.DeleteFunc(slices.Clone(keys), durable),
		scripts: scripts, scriptsAskTime: slices.ContainsFunc(scripts, isDependent), scriptHashes: scriptHashes.String(),
		answers: map[query]*Answer{}, laterStates: map[time.Duration]*State{}, renamedTexts: map[string]string{},
	}
	sim.states[text] = s
	return s
}

// RenamedText returns Text with names replaced by rename. Calls with the same id return the same text, so an id stands for one rename
// function.
func (s *State) RenamedText(id string, rename func(key, text string) string) string {
	text, ok := s.renamedTexts[id]
	if !ok {
		text = formatKeys(s.Keys, rename) + s.scriptHashes
		s.renamedTexts[id] = text
	}
	return text
}

// Key returns the key with this name.
func (s *State) Key(name string) (Key, bool) {
	for _, k := range s.Keys {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

// SameContent reports whether two states differ at most in expiries and loaded scripts.
func (s *State) SameContent(other *State) bool {
	return s == other || slices.EqualFunc(s.Keys, other.Keys, func(a, b Key) bool { return a.kind == b.kind && a.hasSameValues(b) })
}

// SameKeys reports whether two states differ at most in loaded scripts.
func (s *State) SameKeys(other *State) bool {
	return s == other || slices.EqualFunc(s.Keys, other.Keys, func(a, b Key) bool {
		return a.kind == b.kind && a.hasSameValues(b) && a.TTL == b.TTL
	})
}

// SameTransient reports whether the transient keys of two states have the same names and values; types and expiries are not compared.
func (s *State) SameTransient(other *State) bool {
	return slices.EqualFunc(s.Transient, other.Transient, Key.hasSameValues)
}

// nextExpiry returns the time until the first key expires; 0: no key has an expiry.
func (s *State) nextExpiry() time.Duration {
	var next time.Duration
	for _, k := range s.Keys {
		if k.TTL > 0 && (next == 0 || k.TTL < next) {
			next = k.TTL
		}
	}
	return next
}
