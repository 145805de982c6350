package judge

import (
	"slices"
	"strings"
	"testing"

	"lockstep/internal/anomaly"
)

// Without names in its values, a lock belongs to the process that has sent its value, or, if several have sent it, to the actor that wrote
// it.
func TestHolderFollowsFromSender(t *testing.T) {
	for name, test := range map[string]struct {
		events func(*fixture)
		holder int
		want   []anomaly.Anomaly
	}{
		"a value of its own": {events: func(s *fixture) { s.do(t, does(b, 0, "SET", "of A")) }, holder: b},
		"a field without an owner": {events: func(s *fixture) {
			s.do(t, does(a, 0, "HSETNX", "held", "1"), does(b, 0, "HSET", "asked", "1"))
		}, holder: a},
		"a counter": {events: func(s *fixture) { s.do(t, does(a, 0, "INCR"), does(b, 0, "INCR"), does(b, 0, "DECR")) }, holder: a},
		"a counter back to zero": {events: func(s *fixture) {
			s.do(t, does(a, 0, "INCR"))
			s.RecordEntry(a, fakeLease{})
			s.do(t, does(b, 0, "DECR"))
		}, holder: a, want: []anomaly.Anomaly{anomaly.Unattributed}}, // A remains the holder until B enters
		"removed before its holder has entered": {events: func(s *fixture) {
			s.do(t, does(a, 0, "SET", "of A", "EX", "10"), does(b, 0, "DEL"))
		}, holder: nobody},
		"removed while its holder is in the critical section": {events: func(s *fixture) {
			s.do(t, does(a, 0, "SET", "of A", "EX", "10"))
			s.RecordEntry(a, fakeLease{})
			s.do(t, does(b, 0, "DEL"))
		}, holder: nobody, want: []anomaly.Anomaly{anomaly.ForeignRelease}},
		"overwritten by a value of B": {events: func(s *fixture) {
			s.do(t, does(a, 0, "SET", "1", "EX", "10"))
			s.RecordEntry(a, fakeLease{})
			s.do(t, does(b, 0, "SET", "of B"))
		}, holder: b, want: []anomaly.Anomaly{anomaly.ForeignRelease}},
		"overwritten by a value without an owner": {events: func(s *fixture) {
			s.do(t, does(a, 0, "SET", "100", "EX", "10"))
			s.RecordEntry(a, fakeLease{})
			s.do(t, does(b, 0, "SET", "600", "EX", "10"))
		}, holder: b, want: []anomaly.Anomaly{anomaly.Unattributed}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, 0, Excuses{FaultHappened: true})
			s.Sender = func(values []string) string {
				for _, value := range values {
					if process, ok := strings.CutPrefix(value, "of "); ok {
						return process
					}
				}
				return ""
			}
			s.RecordAsk(a, "")
			s.RecordAsk(b, "")
			test.events(s)
			var got []anomaly.Anomaly
			for _, d := range s.Detected() {
				got = append(got, d.Anomaly)
			}
			if s.Holder() != test.holder || !slices.Equal(got, test.want) {
				t.Errorf("got holder %d, detected %v; want holder %d, %v", s.Holder(), s.Detected(), test.holder, test.want)
			}
		})
	}
}

// paused is the state of an actor in a paused process.
type paused struct{ alive }

func (paused) Paused() bool { return true }

// A paused holder is harmless once a later holder has a larger token.
func TestPausedHolderWithOlderTokenIsHarmless(t *testing.T) {
	for name, test := range map[string]struct {
		tokens [2]int64
		want   int // number of detections
	}{
		"with tokens":    {tokens: [2]int64{1, 2}},
		"without tokens": {want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, 0, Excuses{FaultHappened: true})
			s.TrustFencing = true
			s.sales[a].ActorState = paused{}
			for i, token := range test.tokens {
				s.RecordAsk(i, "")
				s.RecordEntry(i, fakeLease{token: token})
			}
			s.Check()
			if len(s.Detected()) != test.want {
				t.Errorf("got %v; want %d detections", s.Detected(), test.want)
			}
		})
	}
}
