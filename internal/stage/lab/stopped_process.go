package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// stoppedProcess is a holder that is stopped past the expiry of its lock, at its work: its write is not yet sent. What the lock can do
// here it cannot do in paused-writer, where the write is on its way.
func stoppedProcess() Lab {
	const work = 5 * time.Second
	return Lab{
		Name: "stopped-process", Claim: "a process that was stopped past the expiry of its lock is told before it writes",
		Shows: "v5", Cured: "v6",
		Cure:    "a timer at the expiry: it is overdue when the process goes on, and cancels the work",
		Explore: "--faults pause=1 --anomaly untold",
		Unix:    true,
		Shop:    Settings{Replicas: 2, TTL: time.Second, Wait: 20 * time.Second, Think: each(work, "r1")},
		Scenario: func(s *Stage) {
			first := s.Buy("r1")
			s.Until("r1#1 to be at work", does("r1#1", witness.Reads, witness.Done))
			s.Stop("r1")
			s.Answered(s.Buy("r2"))
			s.Until("r2#1 to end", ends("r2#1"))
			s.GoOn("r1")
			s.Answered(first)
			s.Until("r1#1 to end", ends("r1#1"))
		},
		Fault: "r1 is stopped at its work, the other sells, and r1 goes on before its work is done",
		Hit:   and(happened(witness.KindStops), answered("r2#1"), wentOnInTime(work-time.Second)),
		Proof: func(a witness.Account) bool { return told(a, "r1#1") || answered("r1#1")(a) },
		Signs: []witness.FindingKind{witness.LostUpdate},
		Expected: []Expectation{
			{"v2 v3 v4 v5 setnx-expire lua-setnx getset late-commit", Broken, "nobody tells it, and it writes over the other's update"},
			{"v0 local set-expire setex", Broken, "nothing keeps the other out"},
			{"v6", Holds, "it is told as soon as it goes on; only a write that is on its way would arrive: see paused-writer"},
			{"v7 v8 v9 v10", Holds, "it is told as soon as it goes on; and if it wrote, the store would refuse its token"},
			{"redlock", Holds, "it is told as soon as it goes on; it has no token, should it write: see paused-writer"},
			{"optimistic", Holds, "its write is refused, and it reads again"},
			{"atomic", NA, "it reads and writes in one step, so it cannot be stopped between"},
			{"v1", NA, "its lock never expires: the other waits"},
		},
	}
}

// wentOnInTime is r1's having gone on within some time after its first sale had obtained the lock.
func wentOnInTime(within time.Duration) func(witness.Account) bool {
	return func(a witness.Account) bool {
		var obtained time.Time
		for _, e := range a.Events {
			switch {
			case e.Sale == "r1#1" && e.Kind == witness.KindObtains:
				obtained = e.Replied
			case e.Replica == "r1" && e.Kind == witness.KindGoes:
				return e.Replied.Sub(obtained) < within
			}
		}
		return false
	}
}
