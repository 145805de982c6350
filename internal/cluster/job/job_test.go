package job_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/cluster/job"
	"lockstep/internal/lock"
	"lockstep/internal/verdict"
)

// startDelays are the delays of three replicas that all start before the deadline of a tick.
var startDelays = []time.Duration{0, 5 * time.Millisecond, 350 * time.Millisecond}

func TestEachLockRunsTickOnce(t *testing.T) {
	all := maps.Clone(expiring)
	maps.Copy(all, forGood)
	for name, make := range all {
		t.Run(name, func(t *testing.T) {
			testInWorld(t, group{make: make, delays: startDelays}, func(t *testing.T, w *world) {
				w.sleepUntil(4, 500*time.Millisecond)
				if got := w.countRuns(4); !slices.Equal(got, []int{1, 1, 1, 1, 1}) {
					t.Errorf("runs of the ticks: %v", got)
				}
				for i, r := range w.replicas {
					if heard := r.takeErrors(); heard != nil {
						t.Errorf("replica %d logs %v", i, heard)
					}
				}
			})
		})
	}
}

// Without a lock, or with one that does not exclude other processes, every replica runs the job.
func TestLocalLocksRunTickOnEveryReplica(t *testing.T) {
	for name, make := range map[string]lockMaker{"none": none, "local": local, "setex": setex} {
		t.Run(name, func(t *testing.T) {
			testInWorld(t, group{make: make, delays: startDelays}, func(t *testing.T, w *world) {
				w.sleepUntil(2, 500*time.Millisecond)
				if got := w.countRuns(2); !slices.Equal(got, []int{3, 3, 3}) {
					t.Errorf("runs of the ticks: %v", got)
				}
			})
		})
	}
}

// A replica that dies with the lock, just after a renewal, costs only the tick that it ran. If the lock never expires, it costs all later
// ticks.
func TestDeadHolderCostsTicksOnlyWithoutExpiry(t *testing.T) {
	kill := func(w *world, forever bool) {
		w.sleepUntil(1, 399*time.Millisecond)
		w.replicas[0].client.Close() // the replica is dead to the others
		w.sleepUntil(1, 900*time.Millisecond)
		if held := w.isLocked(); held != forever {
			w.t.Errorf("shortly before the next tick, held: %v", held)
		}
		w.sleepUntil(4, 500*time.Millisecond)
	}
	for name, make := range expiring {
		t.Run(name, func(t *testing.T) {
			testInWorld(t, group{make: make, delays: startDelays}, func(t *testing.T, w *world) {
				if kill(w, false); !slices.Equal(w.countRuns(4), []int{1, 1, 1, 1, 1}) {
					t.Errorf("the ticks were run %v times", w.countRuns(4))
				}
			})
		})
	}
	for name, make := range forGood {
		t.Run(name, func(t *testing.T) {
			testInWorld(t, group{make: make, delays: startDelays}, func(t *testing.T, w *world) {
				if kill(w, true); !slices.Equal(w.countRuns(4), []int{1, 1, 0, 0, 0}) {
					t.Errorf("the ticks were run %v times", w.countRuns(4))
				}
			})
		})
	}
}

// If a job takes longer than its tick, a lock that expires lets the next tick begin meanwhile. A renewed lock skips ticks until the job is
// done. v2, when the first run is done, deletes the lock of the second.
func TestLongJobOverlapsOnlyWithoutRenewal(t *testing.T) {
	const work = 1200 * time.Millisecond
	soon := []time.Duration{0, 5 * time.Millisecond, 10 * time.Millisecond}
	for _, c := range []struct {
		name    string
		make    lockMaker
		delays  []time.Duration
		want    []int
		beside  bool // some run began during another
		leftOut int
		verdict verdict.Verdict
	}{
		{"v1", v1, soon, []int{1, 0, 1, 0, 1}, false, 2, verdict.Holds},
		{"v2", v2, startDelays, []int{1, 2}, true, 0, verdict.Broken},
		{"v4", v4, startDelays, []int{1, 1, 1, 1, 1}, true, 0, verdict.Broken},
		{"v6", v6, soon, []int{1, 0, 1, 0, 1}, false, 2, verdict.Holds},
		{"local", local, soon[:1], []int{1, 0, 1, 0, 1}, false, 2, verdict.Holds},
	} {
		t.Run(c.name, func(t *testing.T) {
			testInWorld(t, group{c.make, c.delays, work}, func(t *testing.T, w *world) {
				w.sleepUntil(4, 500*time.Millisecond)
				tally := w.tally(4, work)
				if got := w.countRuns(4); !slices.Equal(got[:len(c.want)], c.want) {
					t.Errorf("the ticks were run %v times; want them to begin with %v", got, c.want)
				}
				if (tally.Overlaps > 0) != c.beside || tally.LeftOut != c.leftOut || tally.Missed != 0 || tally.Verdict != c.verdict {
					t.Errorf("%d beside another, %d left out, %d missed, %s; want %v, %d, 0, %s",
						tally.Overlaps, tally.LeftOut, tally.Missed, tally.Verdict, c.beside, c.leftOut, c.verdict)
				}
			})
		})
	}
}

// A replica that died during a long run excuses only the ticks that the run would have covered.
func TestDeadHolderOfLongJobSkipsOneTick(t *testing.T) {
	const work = 1200 * time.Millisecond
	testInWorld(t, group{v1, startDelays, work}, func(t *testing.T, w *world) {
		w.sleepUntil(0, 500*time.Millisecond)
		w.replicas[0].client.Close() // the replica is dead to the others
		w.sleepUntil(4, 500*time.Millisecond)
		tally := w.tally(4, work)
		if tally.Runs != 1 || tally.LeftOut != 1 || tally.Missed != 3 || tally.Verdict != verdict.Broken {
			t.Errorf("%+v: %d left out, %d missed, %s; want tick 1 left out, and 3 missed", tally, tally.LeftOut, tally.Missed, tally.Verdict)
		}
	})
}

func TestTicksResumeWhenRedisReturns(t *testing.T) {
	for name, make := range map[string]lockMaker{"v1": v1, "v4": v4, "v6": v6} {
		t.Run(name, func(t *testing.T) {
			testInWorld(t, group{make: make, delays: startDelays}, func(t *testing.T, w *world) {
				w.sleepUntil(0, 100*time.Millisecond) // a replica holds the lock
				w.redis.SetError("LOADING gone")
				w.sleepUntil(3, 500*time.Millisecond)
				errorCount := 0
				for _, r := range w.replicas {
					for _, err := range r.takeErrors() {
						errorCount++
						if !errors.Is(err, lock.ErrUnavailable) {
							t.Errorf("logged %v; want ErrUnavailable", err)
						}
					}
				}
				if errorCount < 10 || errorCount > 10+4 { // the last replica at tick 0, all three at three ticks, and failed releases
					t.Errorf("%d errors in three ticks of three replicas; want 10 to 14", errorCount)
				}
				w.redis.SetError("")
				w.sleepUntil(7, 500*time.Millisecond)
				if got := w.countRuns(7); !slices.Equal(got[:4], []int{1, 0, 0, 0}) || !slices.Equal(got[5:], []int{1, 1, 1}) {
					t.Errorf("the ticks were run %v times; want none while Redis was gone, and one each when it was back", got)
				}
			})
		})
	}
}

func TestTickAndIsLate(t *testing.T) {
	for _, c := range []struct {
		after time.Duration // time after tick 0
		tick  int
		late  bool
	}{
		{0, 0, false}, {-time.Millisecond, 0, false}, {-250 * time.Millisecond, 0, false}, {-251 * time.Millisecond, -1, true},
		{399 * time.Millisecond, 0, false}, {400 * time.Millisecond, 0, true}, {749 * time.Millisecond, 0, true},
	} {
		now := tick(0).Add(c.after)
		if got, late := every.Tick(now), every.IsLate(now); !got.Equal(tick(c.tick)) || late != c.late {
			t.Errorf("%v after tick 0: %v, late %v; want tick %d, late %v", c.after, got, late, c.tick, c.late)
		}
	}
}

func TestTallyCountsTicksAndJudges(t *testing.T) {
	at := func(i int, after time.Duration) time.Time { return tick(i).Add(after) }
	once := func(i int) job.Run { return job.Run{Tick: tick(i), End: at(i, time.Millisecond)} }
	for _, c := range []struct {
		what                          string
		runs                          []job.Run
		more, beside, leftOut, missed int
		want                          verdict.Verdict
		code                          int
	}{
		{"nothing was run", nil, 0, 0, 0, 3, verdict.Unknown, 2},
		{"all once", []job.Run{once(0), once(1), once(2)}, 0, 0, 0, 0, verdict.Holds, 0},
		{"one was missed", []job.Run{once(0), once(2)}, 0, 0, 0, 1, verdict.Broken, 1},
		{"one twice", []job.Run{once(0), once(1), once(1), once(2)}, 1, 0, 0, 0, verdict.Broken, 1},
		{"one was left out", []job.Run{{Tick: tick(0), End: at(1, 500*time.Millisecond)}, once(2)}, 0, 0, 1, 0, verdict.Holds, 0},
		{"left out by a moment", []job.Run{{Tick: tick(0), End: at(1, -200*time.Millisecond)}, once(2)}, 0, 0, 1, 0, verdict.Holds, 0},
		{"over long before", []job.Run{{Tick: tick(0), End: at(1, -300*time.Millisecond)}, once(2)}, 0, 0, 0, 1, verdict.Broken, 1},
		{"left out by a run from before", []job.Run{{Tick: tick(-2), End: at(0, 500*time.Millisecond)}, once(1), once(2)},
			0, 0, 1, 0, verdict.Holds, 0},
		{"beside", []job.Run{once(0), once(1), {Tick: tick(2), End: at(2, 1), Overlaps: true}}, 0, 1, 0, 0, verdict.Broken, 1},
		{"died at work", []job.Run{{Tick: tick(0)}, once(2)}, 0, 0, 1, 0, verdict.Holds, 0},
		{"died at work, and never again", []job.Run{{Tick: tick(0)}}, 0, 0, 1, 1, verdict.Broken, 1},
	} {
		tally := job.NewTally(c.runs, every, 1200*time.Millisecond, tick(0), tick(2))
		if got := tally.Verdict; got != c.want || got.ExitCode() != c.code || tally.Ticks != 3 || len(tally.Counts) != 3 ||
			tally.More != c.more || tally.Overlaps != c.beside || tally.LeftOut != c.leftOut || tally.Missed != c.missed {
			t.Errorf("%s: %s, exit code %d, %+v; want %+v", c.what, got, got.ExitCode(), tally, c)
		}
		if tally.Once+tally.More+tally.None != tally.Ticks {
			t.Errorf("%s: %d once, %d more, %d none", c.what, tally.Once, tally.More, tally.None)
		}
	}
	if tally := job.NewTally(nil, every, 0, tick(0), tick(job.MaxTicks)); tally.Ticks != job.MaxTicks || !tally.Counts[0].Tick.Equal(tick(1)) {
		t.Errorf("%d ticks from %v", tally.Ticks, tally.Counts[0].Tick)
	}
	full := slices.Repeat([]job.Run{once(1)}, job.MaxTicks+1) // earlier runs have been dropped
	if tally := job.NewTally(append(full, once(2)), every, 0, tick(0), tick(2)); tally.Ticks != 1 || tally.Once != 1 {
		t.Errorf("of a full record: %d ticks, %d once", tally.Ticks, tally.Once)
	}
}

// The order of events in Redis decides: a run that began before another had ended overlapped with it.
func TestRecordDetectsOverlaps(t *testing.T) {
	testInWorld(t, group{}, func(t *testing.T, w *world) {
		begin := func(i int) string {
			id, err := w.record.Begin(t.Context(), tick(i), "r7")
			if err != nil {
				t.Fatal(err)
			}
			return id
		}
		end := func(id string) {
			if err := w.record.End(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		end(begin(0))
		one := begin(1)
		two := begin(2)
		end(one)
		end(two)
		begin(3) // never ends
		end(begin(4))
		runs, err := w.record.Runs(t.Context())
		if err != nil || len(runs) != 5 {
			t.Fatalf("%+v, %v", runs, err)
		}
		for i, run := range runs {
			if !run.Tick.Equal(tick(i)) || run.Overlaps != (i == 2) || run.End.IsZero() != (i == 3) {
				t.Errorf("run %d: %+v", i, run)
			}
			if run.Replica != "r7" || !run.Began.Equal(time.Now()) {
				t.Errorf("run %d of replica %s began at %v", i, run.Replica, run.Began)
			}
			if i != 3 && !run.End.Equal(time.Now()) { // no virtual time passes
				t.Errorf("run %d ended at %v", i, run.End)
			}
		}
		if ttl := w.outside.TTL(t.Context(), "{job}:events").Val(); ttl != job.MaxTicks*time.Second {
			t.Errorf("the record expires in %v", ttl)
		}
		end("0-1")       // end of a run whose beginning was dropped
		for range 1500 { // more than one read returns
			end(begin(6))
		}
		if runs, err := w.record.Runs(t.Context()); err != nil || len(runs) != 1505 {
			t.Errorf("%d runs, %v", len(runs), err)
		}
		w.outside.XAdd(t.Context(), &redis.XAddArgs{Stream: "{job}:events", Values: []string{"tick", "x"}})
		if _, err := w.record.Runs(t.Context()); err == nil {
			t.Error("Runs accepts a tick that is not a time")
		}
	})
}

func TestMeansExplainsTally(t *testing.T) {
	for result, says := range map[*job.Tally]string{
		{Verdict: verdict.Unknown}:                      "before one tick was over",
		{Verdict: verdict.Unknown, Ticks: 2, Missed: 2}: "redis-cli del job",
		{Verdict: verdict.Holds, Ticks: 2}:              "exactly once",

		{Verdict: verdict.Unknown, Ticks: 2, LeftOut: 2, None: 2}: "a run from before was going on",
		{Verdict: verdict.Holds, Ticks: 3, LeftOut: 2}:            "no tick twice; left out, as a run was going on: 2",
		{Verdict: verdict.Broken, Overlaps: 1, More: 1, Missed: 1, Ticks: 3}: "overlapped; some ticks were run more than once; " +
			"some ticks were missed",
	} {
		if got := result.Explanation(); !strings.Contains(got, says) {
			t.Errorf("%+v means %q; want %q", result, got, says)
		}
	}
}
