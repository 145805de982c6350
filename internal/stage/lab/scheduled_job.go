package lab

import (
	"time"

	"lockstep/internal/watch/witness"
)

// everyTick is long enough for a machine that stalls now and then: a replica has two fifths of it to begin in.
const everyTick = 3 * time.Second

// noLock are those that let every replica run every tick.
const noLock = "v0 local atomic optimistic set-expire setex"

// scheduledJob is a job that every replica would run.
func scheduledJob() Lab {
	both := []string{"r1", "r2"}
	return Lab{
		Name: "scheduled-job", Claim: "a scheduled job is run once a tick, however many replicas there are",
		Shows: "v0", Cured: "v1",
		Cure: "a lock that every replica tries once a tick; whoever gets it runs the job, and keeps the lock for a part of the tick",
		Shop: Settings{Replicas: 2, Job: &Job{Every: everyTick}, Proxied: both, NodesProxied: true},
		Scenario: func(s *Stage) {
			s.SeeTries(both, func() { s.Ticks(2) })
		},
		Proof: try(both),
		Fault: "the first tick is run", Hit: ran(1),
		Signs: []witness.FindingKind{witness.RanTwice, witness.Missed, witness.Together},
		Expected: []Expectation{
			{"v0 atomic optimistic", Broken, "there is no lock: every replica runs the job"},
			{"set-expire setex", Broken, "everybody gets the lock: every replica runs the job"},
			{"local", Broken, "each process has a lock of its own"},
			{"v1 v2 v3 v4 v5 v6 v7 v8 v9 v10 redlock late-commit setnx-expire lua-setnx getset", Holds, "only one replica gets the lock of a tick"},
		},
	}
}

// jobHolderDies is a job whose replica is killed with the lock.
func jobHolderDies() Lab {
	return Lab{
		Name: "job-holder-dies", Claim: "a replica that dies with the lock of a scheduled job costs no other tick",
		Shows: "v1", Cured: "v2",
		Cure:    "an expiry of half a tick",
		Explore: "--faults crash=1 --anomaly left-behind",
		Shop:    Settings{Replicas: 2, Job: &Job{Every: everyTick}},
		Scenario: func(s *Stage) {
			s.KillRunner(1)
			s.Ticks(3)
		},
		Fault: "the replica that runs the first tick dies with the lock", Hit: diedWithTheJob(everyTick * 2 / 5),
		Signs: []witness.FindingKind{witness.RanTwice, witness.Missed, witness.Together},
		Expected: []Expectation{
			{"v1", Broken, "the dead replica's lock stays: the job is never run again"},
			{"v2 v3 v4 v5 v6 v7 v8 v9 v10 redlock late-commit lua-setnx", Holds, "the lock expires before the next tick"},
			{"setnx-expire", Holds, "it died after its second command: see dies-between-set-and-expire"},
			{"getset", Holds, "the others find the expiry in the past, and take the lock over"},
			{noLock, NA, "every replica runs every tick: see scheduled-job"},
		},
	}
}

// jobOverruns is a job whose run takes longer than its tick.
func jobOverruns() Lab {
	both := []string{"r1", "r2"}
	return Lab{
		Name: "job-overruns", Claim: "a run of a scheduled job that takes longer than its tick has no other run beside it",
		Shows: "v5", Cured: "v6",
		Cure:    "renewal: the lock lasts as long as the run, and the ticks meanwhile are left out",
		Explore: "--work 25s --anomaly two-holders",
		Shop:    Settings{Replicas: 2, Job: &Job{Every: everyTick, Work: everyTick * 3 / 2}, Proxied: both, NodesProxied: true},
		Scenario: func(s *Stage) {
			s.SeeTries(both, func() { s.Ticks(3) })
		},
		Proof: try(both),
		Fault: "a run goes on when the next tick begins", Hit: outlasted,
		Signs: []witness.FindingKind{witness.RanTwice, witness.Missed, witness.Together},
		Expected: []Expectation{
			{"v2 v3 v4 v5 late-commit setnx-expire lua-setnx getset", Broken, "the lock expires after half a tick, and the next run begins beside"},
			{"v1", Holds, "its lock never expires: the next tick is left out"},
			{"v6 v7 v8 v9 v10 redlock", Holds, "the lock is renewed: the next tick is left out"},
			{noLock, NA, "every replica runs every tick: see scheduled-job"},
		},
	}
}

// ran is a tick's having been run.
func ran(tick int) func(witness.Account) bool {
	return func(a witness.Account) bool { return runOf(a, tick) != nil }
}

// outlasted is a run's having gone on when the next tick began. It need not be that of the first tick: that one is left out where a run
// goes on that began before all replicas were up.
func outlasted(a witness.Account) bool {
	goingOn := map[string]int{} // ticks, by run
	for _, e := range a.Events {
		switch e.Kind {
		case witness.KindRuns:
			goingOn[e.Sale] = e.Tick
		case witness.KindRan:
			delete(goingOn, e.Sale)
		case witness.KindTick:
			for _, tick := range goingOn {
				if tick == e.Tick-1 {
					return true
				}
			}
		default:
		}
	}
	return false
}

func runOf(a witness.Account, tick int) *witness.Event {
	for i, e := range a.Events {
		if e.Kind == witness.KindRuns && e.Tick == tick {
			return &a.Events[i]
		}
	}
	return nil
}

// diedWithTheJob is the first runner's having died as long as its replica kept the lock.
func diedWithTheJob(keeps time.Duration) func(witness.Account) bool {
	return func(a witness.Account) bool {
		run := runOf(a, 1)
		for _, e := range a.Events {
			if e.Kind == witness.KindDies && run != nil && e.Replica == run.Replica {
				return e.Replied.Sub(run.Replied) < keeps
			}
		}
		return false
	}
}
