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
	Text    string // everything
	Keys    []Key
	locks   []Key    // of these, the lock's
	orders  []string // ids of those in the ledger
	scripts []string // loaded, for EVALSHA
	timed   bool     // one of them asks for the time of day
	learnt  string   // what Text says of them
	answers map[question]*Answer
	later   map[time.Duration]*State
	renamed map[string]string // what Renamed has written
}

// Empty returns the state of a server that holds nothing.
func (m *Memory) Empty() *State { return m.empty }

// WithStock returns the state of a server that holds the stock, and nothing else, before it has learnt any script.
func (m *Memory) WithStock(stock int) *State {
	return m.intern([]Key{{Name: dao.InventoryKey, kind: "string", Values: []string{fmt.Sprint(stock)}}}, nil, nil)
}

// WithSegments returns the state of a server that holds the stock in so many segments, all of it in the first: the others are sold out.
func (m *Memory) WithSegments(stock, segments int) *State {
	left := fmt.Sprint(stock)
	keys := []Key{{Name: dao.InventoryKey, kind: "string", Values: []string{left}}}
	for i := range segments {
		name, _ := dao.SegmentKeys(i + 1)
		keys = append(keys, Key{Name: name, kind: "string", Values: []string{left}})
		left = "0"
	}
	slices.SortFunc(keys, func(a, b Key) int { return strings.Compare(a.Name, b.Name) })
	return m.intern(keys, nil, nil)
}

// intern gives the one state that holds these keys, and these orders in its ledger, with these scripts loaded.
func (m *Memory) intern(keys []Key, orders, scripts []string) *State {
	var learnt strings.Builder
	for _, script := range scripts {
		fmt.Fprintf(&learnt, "%x\n", sha1.Sum([]byte(script))) //nolint:gosec // as Redis names scripts
	}
	as := func(name string) string { return name }
	text := written(keys, as) + writtenOrders(orders, as) + learnt.String()
	if known, ok := m.states[text]; ok {
		return known
	}
	asks := func(script string) bool { return timed(strings.ToUpper(script)) }
	s := &State{
		Text: text, Keys: keys, locks: slices.DeleteFunc(slices.Clone(keys), Key.IsShops), orders: orders,
		scripts: scripts, timed: slices.ContainsFunc(scripts, asks), learnt: learnt.String(),
		answers: map[question]*Answer{}, later: map[time.Duration]*State{}, renamed: map[string]string{},
	}
	m.states[text] = s
	return s
}

// Renamed writes everything that a server holds, with other names in it. Who asks again with the same key gets the same text.
func (s *State) Renamed(key string, rename func(text string) string) string {
	text, known := s.renamed[key]
	if !known {
		text = written(s.Keys, rename) + writtenOrders(s.orders, rename) + s.learnt
		s.renamed[key] = text
	}
	return text
}

// HasOrder reports whether an order with this id is in the ledger.
func (s *State) HasOrder(id string) bool { return slices.Contains(s.orders, id) }

// Key finds a key.
func (s *State) Key(name string) (Key, bool) {
	for _, k := range s.Keys {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

// Same reports whether two states differ in nothing but expiries, and what is in the ledger.
func (s *State) Same(other *State) bool {
	return s == other || slices.EqualFunc(s.Keys, other.Keys, func(a, b Key) bool { return a.kind == b.kind && a.same(b) })
}

// SameKeys reports whether two states differ in no key, expiries included: in nothing but the ledger, and the scripts that are loaded.
func (s *State) SameKeys(other *State) bool {
	return s == other || slices.EqualFunc(s.Keys, other.Keys, func(a, b Key) bool { return a.kind == b.kind && a.same(b) && a.TTL == b.TTL })
}

// HasLock reports whether there is a key of the lock's.
func (s *State) HasLock() bool { return len(s.locks) > 0 }

// SameLocks reports whether two states differ in nothing that is the lock's, kinds and expiries aside.
func (s *State) SameLocks(other *State) bool {
	return slices.EqualFunc(s.locks, other.locks, Key.same)
}

// Stock returns what is left to sell, "" if the server does not hold it.
func (s *State) Stock() string {
	if k, ok := s.Key(dao.InventoryKey); ok {
		return k.Values[0]
	}
	return ""
}

// StockOf returns what is left in a segment, counted from 1; of 0, in all.
func (s *State) StockOf(segment int) string {
	if segment == 0 {
		return s.Stock()
	}
	name, _ := dao.SegmentKeys(segment)
	if k, ok := s.Key(name); ok {
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
