package judge

import (
	"slices"
	"strings"
	"testing"

	"lockstep/internal/anomaly"
)

// Where values have no names in them, the lock is the process's that has sent its value; if nobody alone has, the one's who wrote it.
func TestHolderFollowsFromSender(t *testing.T) {
	for name, test := range map[string]struct {
		happens func(*stage)
		holder  int
		finds   []anomaly.Anomaly
	}{
		"a value of its own": {happens: func(s *stage) { s.do(t, does(b, 0, "SET", "of A")) }, holder: b},
		"a field that says nothing": {happens: func(s *stage) {
			s.do(t, does(a, 0, "HSETNX", "held", "1"), does(b, 0, "HSET", "asked", "1"))
		}, holder: a},
		"a counter": {happens: func(s *stage) { s.do(t, does(a, 0, "INCR"), does(b, 0, "INCR"), does(b, 0, "DECR")) }, holder: a},
		"a counter back to zero": {happens: func(s *stage) {
			s.do(t, does(a, 0, "INCR"))
			s.RecordEntry(a, lent{})
			s.do(t, does(b, 0, "DECR"))
		}, holder: a, finds: []anomaly.Anomaly{anomaly.Unattributed}}, // until B enters
		"removed while nobody is inside": {happens: func(s *stage) {
			s.do(t, does(a, 0, "SET", "of A", "EX", "10"), does(b, 0, "DEL"))
		}, holder: nobody},
		"removed while its holder is inside": {happens: func(s *stage) {
			s.do(t, does(a, 0, "SET", "of A", "EX", "10"))
			s.RecordEntry(a, lent{})
			s.do(t, does(b, 0, "DEL"))
		}, holder: nobody, finds: []anomaly.Anomaly{anomaly.ForeignRelease}},
		"overwritten by a value of its own": {happens: func(s *stage) {
			s.do(t, does(a, 0, "SET", "1", "EX", "10"))
			s.RecordEntry(a, lent{})
			s.do(t, does(b, 0, "SET", "of B"))
		}, holder: b, finds: []anomaly.Anomaly{anomaly.ForeignRelease}},
		"overwritten by a value that says nothing": {happens: func(s *stage) {
			s.do(t, does(a, 0, "SET", "100", "EX", "10"))
			s.RecordEntry(a, lent{})
			s.do(t, does(b, 0, "SET", "600", "EX", "10"))
		}, holder: b, finds: []anomaly.Anomaly{anomaly.Unattributed}},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 0, Excuses{FaultHappened: true})
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
			test.happens(s)
			var found []anomaly.Anomaly
			for _, f := range s.Detected() {
				found = append(found, f.Anomaly)
			}
			if s.Holder() != test.holder || !slices.Equal(found, test.finds) {
				t.Errorf("it is %d's, found %v; want %d's, %v", s.Holder(), s.Detected(), test.holder, test.finds)
			}
		})
	}
}

// paused is an actor whose process is.
type paused struct{ alive }

func (paused) Paused() bool { return true }

// A holder that is paused does no harm where a later one has a larger token.
func TestPausedHolderWithOlderTokenIsHarmless(t *testing.T) {
	for name, test := range map[string]struct {
		tokens [2]int64
		finds  int
	}{
		"with tokens":    {tokens: [2]int64{1, 2}},
		"without tokens": {finds: 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 0, Excuses{FaultHappened: true})
			s.TrustFencing = true
			s.sales[a].ActorState = paused{}
			for i, token := range test.tokens {
				s.RecordAsk(i, "")
				s.RecordEntry(i, lent{token: token})
			}
			s.Check()
			if len(s.Detected()) != test.finds {
				t.Errorf("found %v; want %d", s.Detected(), test.finds)
			}
		})
	}
}
