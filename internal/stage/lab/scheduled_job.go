package lab

import (
	"slices"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

// everyTick is long enough for a machine that stalls now and then: a replica has two fifths of it to begin in.
const everyTick = 3 * time.Second

// scheduledJob gives two replicas the same job.
func scheduledJob() Lab {
	return Lab{
		Name:  "scheduled-job",
		Claim: language.Both("a scheduled job is run once a tick, however many replicas there are", "无论有多少副本，定时任务每个 tick 只运行一次"),
		Shows: "v0", Cured: "v1",
		Cure: language.Both(
			"a lock that every replica tries once a tick; whoever gets it runs the job, and keeps the lock for a part of the tick",
			"每个副本每个 tick 尝试一次加锁；成功者运行任务，并把锁保留 tick 的一段时间"),
		Shop:     Settings{Job: &Job{Every: everyTick}},
		Scenario: func(s *Stage) { s.SeeTries(func() { s.Ticks(2) }) },
		Proof:    all(moment("r1", witness.KindTries), moment("r2", witness.KindTries)),
		Fault:    language.Both("the first tick is run", "第一个 tick 运行了"),
		Hit:      some(runs(1)),
		Signs:    []witness.FindingKind{witness.RanTwice, witness.Missed, witness.Together},
		Expected: []Expectation{
			broken("v0 atomic optimistic", "there is no lock: every replica runs the job", "没有锁：每个副本都运行任务"),
			broken("set-expire setex", "everybody gets the lock: every replica runs the job", "谁都能加锁成功：每个副本都运行任务"),
			broken("local", "each process has a lock of its own", "每个进程各有一把锁"),
			holds("v1.. redlock late-commit setnx-expire lua-setnx getset", "only one replica gets the lock of a tick", "每个 tick 只有一个副本得到锁"),
		},
	}
}

// jobHolderDies kills the replica that runs a job.
func jobHolderDies() Lab {
	return Lab{
		Name:  "job-holder-dies",
		Claim: language.Both("a replica that dies with the lock of a scheduled job costs no other tick", "持有定时任务的锁的副本崩溃，不影响别的 tick"),
		Shows: "v1", Cured: "v2",
		Cure:    language.Both("an expiry of half a tick", "过期时间为半个 tick"),
		Explore: "--faults crash=1 --anomaly left-behind",
		Shop:    Settings{Job: &Job{Every: everyTick}},
		Scenario: func(s *Stage) {
			s.KillRunner(1)
			s.Ticks(3)
		},
		Fault: language.Both("the replica that runs the first tick dies with the lock", "运行第一个 tick 的副本持锁崩溃"),
		Hit:   diedWithTheJob(everyTick * 2 / 5),
		Signs: []witness.FindingKind{witness.RanTwice, witness.Missed, witness.Together},
		Expected: []Expectation{
			broken("v1", "the dead replica's lock stays: the job is never run again", "崩溃的副本的锁残留：任务再也不运行"),
			holds("v2.. redlock late-commit lua-setnx", "the lock expires before the next tick", "锁在下一个 tick 之前过期"),
			holds("setnx-expire", "it died after its second command: see dies-between-set-and-expire", "它在第二条命令之后崩溃：见 dies-between-set-and-expire"),
			holds("getset", "the others find the expiry in the past, and take the lock over", "其他副本发现锁已过期，于是接管"),
			without(noLock, "every replica runs every tick: see scheduled-job", "每个副本运行每个 tick：见 scheduled-job"),
		},
	}
}

// jobOverruns gives a job runs that take longer than its tick.
func jobOverruns() Lab {
	return Lab{
		Name: "job-overruns",
		Claim: language.Both("a run of a scheduled job that takes longer than its tick has no other run beside it",
			"定时任务运行得比 tick 长，也不会与另一次运行重叠"),
		Shows: "v5", Cured: "v6",
		Cure:     language.Both("renewal: the lock lasts as long as the run, and the ticks meanwhile are left out", "续期：锁与运行一样长，其间的 tick 跳过"),
		Explore:  "--work 25s --anomaly two-holders",
		Shop:     Settings{Job: &Job{Every: everyTick, Work: everyTick * 3 / 2}},
		Scenario: func(s *Stage) { s.SeeTries(func() { s.Ticks(3) }) },
		Proof:    all(moment("r1", witness.KindTries), moment("r2", witness.KindTries)),
		Fault:    language.Both("a run goes on when the next tick begins", "下一个 tick 开始时，上一次运行还在继续"),
		Hit:      outlasted,
		Signs:    []witness.FindingKind{witness.RanTwice, witness.Missed, witness.Together},
		Expected: []Expectation{
			broken("v2..v5 late-commit setnx-expire lua-setnx getset", "the lock expires after half a tick, and the next run begins beside",
				"锁在半个 tick 后过期，下一次运行与它重叠"),
			holds("v1", "its lock never expires: the next tick is left out", "它的锁永不过期：下一个 tick 跳过"),
			holds("v6.. redlock", "the lock is renewed: the next tick is left out", "锁会续期：下一个 tick 跳过"),
			without(noLock, "every replica runs every tick: see scheduled-job", "每个副本运行每个 tick：见 scheduled-job"),
		},
	}
}

// runs picks the runs of a tick.
func runs(tick int) match {
	return func(e witness.Event) bool { return e.Kind == witness.KindRuns && e.Tick == tick }
}

// outlasted reports whether a run went on when the next tick began. It need not be that of the first tick: that one is left out where a run
// goes on that began before all replicas were up.
func outlasted(events []witness.Event) bool {
	goingOn := map[string]int{} // ticks, by run
	for _, e := range events {
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

// diedWithTheJob reports whether the first runner died while its replica kept the lock.
func diedWithTheJob(keeps time.Duration) Condition {
	return func(events []witness.Event) bool {
		i := slices.IndexFunc(events, runs(1))
		return i >= 0 && within(keeps, runs(1), is(events[i].Replica, witness.KindDies))(events)
	}
}
