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
func TestJudgeDetectsAnomaliesInEvents(t *testing.T) {
	told, stop := context.WithCancelCause(t.Context())
	stop(errors.New("its time is up"))
	lease := func(ctx context.Context, token int64) Lease { return lent{token, context.Cause(ctx)} }
	hidden := []anomaly.Anomaly{anomaly.ForeignRelease, anomaly.Untold, anomaly.FalseWord}
	for name, test := range map[string]struct {
		past     Excuses
		happens  func(*stage)
		finds    []anomaly.Anomaly
		unjudged []anomaly.Anomaly
	}{
		"one after the other": {happens: func(s *stage) {
			for i := range 2 {
				s.RecordAsk(i, "")
				s.do(t, does(i, 0, "SET", "1"))
				s.RecordEntry(i, lease(t.Context(), int64(i+1)))
				unlock := s.RecordUnlockStart(i)
				s.do(t, does(i, 0, "DEL"))
				s.RecordUnlockEnd(i, unlock, nil)
			}
		}},
		"two at once": {happens: func(s *stage) {
			for i := range 2 {
				s.RecordAsk(i, "")
				s.RecordEntry(i, lease(t.Context(), 0))
			}
		}, finds: []anomaly.Anomaly{anomaly.TwoHolders}, unjudged: hidden},
		"one was told to stop": {happens: func(s *stage) {
			s.RecordEntry(a, lease(told, 0))
			s.RecordEntry(b, lease(t.Context(), 0))
		}, unjudged: hidden},
		"a token again": {happens: func(s *stage) {
			for i := range 2 {
				s.RecordEntry(i, lease(t.Context(), 7))
				s.RecordUnlockEnd(i, s.RecordUnlockStart(i), nil)
			}
		}, finds: []anomaly.Anomaly{anomaly.TokenOrder}, unjudged: hidden},
		"a nested call with a token of its own": {happens: func(s *stage) {
			s.RecordEntry(a, lease(t.Context(), 1))
			s.RecordEntry(a, lease(t.Context(), 2))
		}, finds: []anomaly.Anomaly{anomaly.TokenOrder}, unjudged: hidden},
		"overtaken": {happens: func(s *stage) {
			for range 2 {
				s.RecordAsk(a, "")
				s.RecordQueueing(a)
				s.RecordAsk(b, "")
				s.RecordQueueing(b)
				s.RecordEntry(b, lease(t.Context(), 0))
				s.RecordUnlockEnd(b, s.RecordUnlockStart(b), nil)
			}
		}, unjudged: hidden}, // once: who asks anew stands behind again
		"overtaken twice": {happens: func(s *stage) {
			s.RecordAsk(a, "")
			s.RecordQueueing(a)
			for range 2 {
				s.RecordAsk(b, "")
				s.RecordQueueing(b)
				s.RecordEntry(b, lease(t.Context(), 0))
				s.RecordUnlockEnd(b, s.RecordUnlockStart(b), nil)
			}
		}, finds: []anomaly.Anomaly{anomaly.Starved}, unjudged: hidden},
		"its client went away, it hears": {happens: func(s *stage) {
			s.RecordAsk(a, "")
			s.RecordRefusal(a, lock.ErrCancelled, false)
		}, finds: []anomaly.Anomaly{anomaly.FalseWord}},
		"expired, it hears": {happens: func(s *stage) {
			s.RecordAsk(a, "")
			s.do(t, does(a, 0, "SET", "1"))
			s.RecordEntry(a, lease(t.Context(), 0))
			s.RecordUnlockEnd(a, s.RecordUnlockStart(a), fmt.Errorf("unlock: %w", lock.ErrExpired))
		}, finds: []anomaly.Anomaly{anomaly.FalseWord}},
		"expired, it hears of what is not in the key": {happens: func(s *stage) {
			s.RecordAsk(a, "")
			s.RecordEntry(a, lease(t.Context(), 0))
			s.RecordUnlockEnd(a, s.RecordUnlockStart(a), fmt.Errorf("unlock: %w", lock.ErrExpired))
		}, unjudged: hidden},
		"another one's, it hears at once": {happens: func(s *stage) {
			s.RecordAsk(tries, "")
			s.RecordRefusal(tries, lock.ErrNotObtained, false)
		}, finds: []anomaly.Anomaly{anomaly.FalseWord}},
		"another one's, it hears, and there is a key": {happens: func(s *stage) {
			s.do(t, does(nobodys, 0, "SET", "1"))
			s.RecordAsk(tries, "")
			s.RecordRefusal(tries, lock.ErrNotObtained, false)
		}},
		"another one's, it hears, and its own command left a key": {happens: func(s *stage) {
			s.RecordAsk(tries, "")
			s.do(t, does(tries, 0, "SET", "1"))
			s.RecordRefusal(tries, lock.ErrNotObtained, false)
		}, finds: []anomaly.Anomaly{anomaly.FalseWord}},
		"another one's, it hears, and another one asks": {happens: func(s *stage) {
			s.RecordAsk(tries, "")
			s.RecordAsk(a, "")
			s.RecordRefusal(tries, lock.ErrNotObtained, false)
		}},
		"another one's, it hears after a fault": {past: Excuses{FaultHappened: true}, happens: func(s *stage) {
			s.RecordAsk(tries, "")
			s.RecordRefusal(tries, lock.ErrNotObtained, false)
		}, unjudged: []anomaly.Anomaly{anomaly.FalseWord}},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 0, test.past)
			test.happens(s)
			s.Check()
			var found []anomaly.Anomaly
			for _, f := range s.Detected() {
				found = append(found, f.Anomaly)
			}
			if !slices.Equal(found, test.finds) || !slices.Equal(s.Unjudged(), test.unjudged) {
				t.Errorf("found %v, unjudged %q; want %q, %q", s.Detected(), s.Unjudged(), test.finds, test.unjudged)
			}
		})
	}
}
