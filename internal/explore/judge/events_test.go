package judge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"lockstep/internal/anomaly"
	"lockstep/internal/lock"
)

// lent is a lease.
type lent struct {
	token int64 // 0: none
	over  error // why it is; nil: it is not
}

func (l lent) Token() (token int64, ok bool) { return l.token, l.token > 0 }
func (l lent) IsLost() bool                  { return errors.Is(l.over, lock.ErrLost) }
func (l lent) IsOver() bool                  { return l.over != nil }

// tries is one who tries once.
const tries = 2

// What locks say, their order and their tokens are judged by what is told alone: no engine is needed.
func TestEvents(t *testing.T) {
	told, stop := context.WithCancelCause(t.Context())
	stop(errors.New("its time is up"))
	lease := func(ctx context.Context, token int64) Lease { return lent{token, context.Cause(ctx)} }
	hidden := []anomaly.Anomaly{anomaly.ForeignRelease, anomaly.Untold, anomaly.FalseWord}
	for name, test := range map[string]struct {
		past     Past
		happens  func(*stage)
		finds    []anomaly.Anomaly
		unjudged []anomaly.Anomaly
	}{
		"one after the other": {happens: func(s *stage) {
			for i := range 2 {
				s.Ask(i, "")
				s.do(t, does(i, 0, "SET", "1"))
				s.Enter(i, lease(t.Context(), int64(i+1)))
				unlock := s.BeginUnlock(i)
				s.do(t, does(i, 0, "DEL"))
				s.EndUnlock(i, unlock, nil)
			}
		}},
		"two at once": {happens: func(s *stage) {
			for i := range 2 {
				s.Ask(i, "")
				s.Enter(i, lease(t.Context(), 0))
			}
		}, finds: []anomaly.Anomaly{anomaly.TwoHolders}, unjudged: hidden},
		"one was told to stop": {happens: func(s *stage) {
			s.Enter(a, lease(told, 0))
			s.Enter(b, lease(t.Context(), 0))
		}, unjudged: hidden},
		"a token again": {happens: func(s *stage) {
			for i := range 2 {
				s.Enter(i, lease(t.Context(), 7))
				s.EndUnlock(i, s.BeginUnlock(i), nil)
			}
		}, finds: []anomaly.Anomaly{anomaly.TokenOrder}, unjudged: hidden},
		"a nested call with a token of its own": {happens: func(s *stage) {
			s.Enter(a, lease(t.Context(), 1))
			s.Enter(a, lease(t.Context(), 2))
		}, finds: []anomaly.Anomaly{anomaly.TokenOrder}, unjudged: hidden},
		"overtaken": {happens: func(s *stage) {
			for range 2 {
				s.Ask(a, "")
				s.Queue(a)
				s.Ask(b, "")
				s.Queue(b)
				s.Enter(b, lease(t.Context(), 0))
				s.EndUnlock(b, s.BeginUnlock(b), nil)
			}
		}, unjudged: hidden}, // once: who asks anew stands behind again
		"overtaken twice": {happens: func(s *stage) {
			s.Ask(a, "")
			s.Queue(a)
			for range 2 {
				s.Ask(b, "")
				s.Queue(b)
				s.Enter(b, lease(t.Context(), 0))
				s.EndUnlock(b, s.BeginUnlock(b), nil)
			}
		}, finds: []anomaly.Anomaly{anomaly.Starved}, unjudged: hidden},
		"its client went away, it hears": {happens: func(s *stage) {
			s.Ask(a, "")
			s.Refuse(a, lock.ErrCancelled, false)
		}, finds: []anomaly.Anomaly{anomaly.FalseWord}},
		"expired, it hears": {happens: func(s *stage) {
			s.Ask(a, "")
			s.do(t, does(a, 0, "SET", "1"))
			s.Enter(a, lease(t.Context(), 0))
			s.EndUnlock(a, s.BeginUnlock(a), fmt.Errorf("unlock: %w", lock.ErrExpired))
		}, finds: []anomaly.Anomaly{anomaly.FalseWord}},
		"expired, it hears of what is not in the key": {happens: func(s *stage) {
			s.Ask(a, "")
			s.Enter(a, lease(t.Context(), 0))
			s.EndUnlock(a, s.BeginUnlock(a), fmt.Errorf("unlock: %w", lock.ErrExpired))
		}, unjudged: hidden},
		"another one's, it hears at once": {happens: func(s *stage) {
			s.Ask(tries, "")
			s.Refuse(tries, lock.ErrNotObtained, false)
		}, finds: []anomaly.Anomaly{anomaly.FalseWord}},
		"another one's, it hears, and there is a key": {happens: func(s *stage) {
			s.do(t, does(nobodys, 0, "SET", "1"))
			s.Ask(tries, "")
			s.Refuse(tries, lock.ErrNotObtained, false)
		}},
		"another one's, it hears, and its own command left a key": {happens: func(s *stage) {
			s.Ask(tries, "")
			s.do(t, does(tries, 0, "SET", "1"))
			s.Refuse(tries, lock.ErrNotObtained, false)
		}, finds: []anomaly.Anomaly{anomaly.FalseWord}},
		"another one's, it hears, and another one asks": {happens: func(s *stage) {
			s.Ask(tries, "")
			s.Ask(a, "")
			s.Refuse(tries, lock.ErrNotObtained, false)
		}},
		"another one's, it hears after a fault": {past: Past{Faulted: true}, happens: func(s *stage) {
			s.Ask(tries, "")
			s.Refuse(tries, lock.ErrNotObtained, false)
		}, unjudged: []anomaly.Anomaly{anomaly.FalseWord}},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 0, test.past)
			test.happens(s)
			s.Check()
			var found []anomaly.Anomaly
			for _, f := range s.Found() {
				found = append(found, f.Anomaly)
			}
			if !slices.Equal(found, test.finds) || !slices.Equal(s.Unjudged(), test.unjudged) {
				t.Errorf("found %v, unjudged %q; want %q, %q", s.Found(), s.Unjudged(), test.finds, test.unjudged)
			}
		})
	}
}
