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

// fakeLease is a lease in a given state.
type fakeLease struct {
	token int64 // fencing token; 0: none
	cause error // cause of the end of its context; nil: it has not ended
}

func (l fakeLease) Token() (token int64, ok bool) { return l.token, l.token > 0 }
func (l fakeLease) IsLost() bool                  { return errors.Is(l.cause, lock.ErrLost) }
func (l fakeLease) IsEnded() bool                 { return l.cause != nil }
func (l fakeLease) IgnoredCause() error           { return nil }

// onceActor is the index of actor C, which tries only once.
const onceActor = 2

// The judge detects anomalies from the reported events alone, without an engine.
func TestJudgeDetectsAnomaliesInEvents(t *testing.T) {
	stopped, stop := context.WithCancelCause(t.Context())
	stop(errors.New("its time is up"))
	lease := func(ctx context.Context, token int64) Lease { return fakeLease{token, context.Cause(ctx)} }
	ownership := []anomaly.Anomaly{anomaly.ForeignRelease, anomaly.Untold, anomaly.FalseWord}
	for name, test := range map[string]struct {
		excuses  Excuses
		events   func(*fixture)
		want     []anomaly.Anomaly
		unjudged []anomaly.Anomaly
	}{
		"one after the other": {events: func(s *fixture) {
			for i := range 2 {
				s.RecordAsk(i, "")
				s.do(t, does(i, 0, "SET", "1"))
				s.RecordEntry(i, lease(t.Context(), int64(i+1)))
				unlock := s.RecordUnlockStart(i)
				s.do(t, does(i, 0, "DEL"))
				s.RecordUnlockEnd(i, unlock, nil)
			}
		}},
		"two at once": {events: func(s *fixture) {
			for i := range 2 {
				s.RecordAsk(i, "")
				s.RecordEntry(i, lease(t.Context(), 0))
			}
		}, want: []anomaly.Anomaly{anomaly.TwoHolders}, unjudged: ownership},
		"one holder was told to stop": {events: func(s *fixture) {
			s.RecordEntry(a, lease(stopped, 0))
			s.RecordEntry(b, lease(t.Context(), 0))
		}, unjudged: ownership},
		"a token that was given before": {events: func(s *fixture) {
			for i := range 2 {
				s.RecordEntry(i, lease(t.Context(), 7))
				s.RecordUnlockEnd(i, s.RecordUnlockStart(i), nil)
			}
		}, want: []anomaly.Anomaly{anomaly.TokenOrder}, unjudged: ownership},
		"a nested call with a token of its own": {events: func(s *fixture) {
			s.RecordEntry(a, lease(t.Context(), 1))
			s.RecordEntry(a, lease(t.Context(), 2))
		}, want: []anomaly.Anomaly{anomaly.TokenOrder}, unjudged: ownership},
		"overtaken": {events: func(s *fixture) {
			for range 2 {
				s.RecordAsk(a, "")
				s.RecordQueueing(a)
				s.RecordAsk(b, "")
				s.RecordQueueing(b)
				s.RecordEntry(b, lease(t.Context(), 0))
				s.RecordUnlockEnd(b, s.RecordUnlockStart(b), nil)
			}
		}, unjudged: ownership}, // once: an actor that asks again queues behind the others
		"overtaken twice": {events: func(s *fixture) {
			s.RecordAsk(a, "")
			s.RecordQueueing(a)
			for range 2 {
				s.RecordAsk(b, "")
				s.RecordQueueing(b)
				s.RecordEntry(b, lease(t.Context(), 0))
				s.RecordUnlockEnd(b, s.RecordUnlockStart(b), nil)
			}
		}, want: []anomaly.Anomaly{anomaly.Starved}, unjudged: ownership},
		"a false notice that the client went away": {events: func(s *fixture) {
			s.RecordAsk(a, "")
			s.RecordRefusal(a, lock.ErrCancelled, false)
		}, want: []anomaly.Anomaly{anomaly.FalseWord}},
		"a false report of expiry": {events: func(s *fixture) {
			s.RecordAsk(a, "")
			s.do(t, does(a, 0, "SET", "1"))
			s.RecordEntry(a, lease(t.Context(), 0))
			s.RecordUnlockEnd(a, s.RecordUnlockStart(a), fmt.Errorf("unlock: %w", lock.ErrExpired))
		}, want: []anomaly.Anomaly{anomaly.FalseWord}},
		"a report of expiry of a lock that is not in the key": {events: func(s *fixture) {
			s.RecordAsk(a, "")
			s.RecordEntry(a, lease(t.Context(), 0))
			s.RecordUnlockEnd(a, s.RecordUnlockStart(a), fmt.Errorf("unlock: %w", lock.ErrExpired))
		}, unjudged: ownership},
		"a refusal although nobody else asks": {events: func(s *fixture) {
			s.RecordAsk(onceActor, "")
			s.RecordRefusal(onceActor, lock.ErrNotObtained, false)
		}, want: []anomaly.Anomaly{anomaly.FalseWord}},
		"a refusal while there is a key": {events: func(s *fixture) {
			s.do(t, does(byTime, 0, "SET", "1"))
			s.RecordAsk(onceActor, "")
			s.RecordRefusal(onceActor, lock.ErrNotObtained, false)
		}},
		"a refusal while there is only its own key": {events: func(s *fixture) {
			s.RecordAsk(onceActor, "")
			s.do(t, does(onceActor, 0, "SET", "1"))
			s.RecordRefusal(onceActor, lock.ErrNotObtained, false)
		}, want: []anomaly.Anomaly{anomaly.FalseWord}},
		"a refusal while another actor asks": {events: func(s *fixture) {
			s.RecordAsk(onceActor, "")
			s.RecordAsk(a, "")
			s.RecordRefusal(onceActor, lock.ErrNotObtained, false)
		}},
		"a refusal after a fault": {excuses: Excuses{FaultHappened: true}, events: func(s *fixture) {
			s.RecordAsk(onceActor, "")
			s.RecordRefusal(onceActor, lock.ErrNotObtained, false)
		}, unjudged: []anomaly.Anomaly{anomaly.FalseWord}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, 0, test.excuses)
			test.events(s)
			s.Check()
			var got []anomaly.Anomaly
			for _, d := range s.Detected() {
				got = append(got, d.Anomaly)
			}
			if !slices.Equal(got, test.want) || !slices.Equal(s.Unjudged(), test.unjudged) {
				t.Errorf("got %v, unjudged %q; want %q, unjudged %q", s.Detected(), s.Unjudged(), test.want, test.unjudged)
			}
		})
	}
}
