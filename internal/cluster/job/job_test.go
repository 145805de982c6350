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

// late is how late three replicas are that all may be there in time.
var late = []time.Duration{0, 5 * time.Millisecond, 350 * time.Millisecond}

func TestOnceATick(t *testing.T) {
	all := maps.Clone(expiring)
	maps.Copy(all, forGood)
	for name, make := range all {
		t.Run(name, func(t *testing.T) {
			inWorld(t, group{make: make, late: late}, func(t *testing.T, w *world) {
				w.until(4, 500*time.Millisecond)
				if got := w.counts(4); !slices.Equal(got, []int{1, 1, 1, 1, 1}) {
					t.Errorf("the ticks were run %v times", got)
				}
				for i, r := range w.replicas {
					if heard := r.heard(); heard != nil {
						t.Errorf("replica %d says %v", i, heard)
					}
				}
			})
		})
	}
}

// What is no lock, and what is none for other processes, runs the job on every replica.
func TestOnEveryReplica(t *testing.T) {
	for name, make := range map[string]maker{"none": none, "local": local, "setex": setex} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, group{make: make, late: late}, func(t *testing.T, w *world) {
				w.until(2, 500*time.Millisecond)
				if got := w.counts(2); !slices.Equal(got, []int{3, 3, 3}) {
					t.Errorf("the ticks were run %v times", got)
				}
			})
		})
	}
}

// A replica that dies with the lock, just after it renewed it, costs no tick but the one it had; with a lock that does not expire, all.
func TestDeadHolder(t *testing.T) {
	kill := func(w *world, forever bool) {
		w.until(1, 399*time.Millisecond)
		w.replicas[0].client.Close() // it is not heard of any more
		w.until(1, 900*time.Millisecond)
		if held := w.locked(); held != forever {
			w.t.Errorf("shortly before the next tick, held: %v", held)
		}
		w.until(4, 500*time.Millisecond)
	}
	for name, make := range expiring {
		t.Run(name, func(t *testing.T) {
			inWorld(t, group{make: make, late: late}, func(t *testing.T, w *world) {
				if kill(w, false); !slices.Equal(w.counts(4), []int{1, 1, 1, 1, 1}) {
					t.Errorf("the ticks were run %v times", w.counts(4))
				}
			})
		})
	}
	for name, make := range forGood {
		t.Run(name, func(t *testing.T) {
			inWorld(t, group{make: make, late: late}, func(t *testing.T, w *world) {
				if kill(w, true); !slices.Equal(w.counts(4), []int{1, 1, 0, 0, 0}) {
					t.Errorf("the ticks were run %v times", w.counts(4))
				}
			})
		})
	}
}

// A job longer than its tick: locks that expire let the next tick begin, beside it; renewed ones leave out the ticks until it is done. And
// v2, done with the first, deletes the lock of the second.
func TestLongJob(t *testing.T) {
	const work = 1200 * time.Millisecond
	soon := []time.Duration{0, 5 * time.Millisecond, 10 * time.Millisecond}
	for _, c := range []struct {
		name    string
		make    maker
		late    []time.Duration
		want    []int
		beside  bool // some run began while another was going on
		leftOut int
		verdict verdict.Verdict
	}{
		{"v1", v1, soon, []int{1, 0, 1, 0, 1}, false, 2, verdict.Holds},
		{"v2", v2, late, []int{1, 2}, true, 0, verdict.Broken},
		{"v4", v4, late, []int{1, 1, 1, 1, 1}, true, 0, verdict.Broken},
		{"v6", v6, soon, []int{1, 0, 1, 0, 1}, false, 2, verdict.Holds},
		{"local", local, soon[:1], []int{1, 0, 1, 0, 1}, false, 2, verdict.Holds},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, group{c.make, c.late, work}, func(t *testing.T, w *world) {
				w.until(4, 500*time.Millisecond)
				tally := w.tally(4, work)
				if got := w.counts(4); !slices.Equal(got[:len(c.want)], c.want) {
					t.Errorf("the ticks were run %v times; want them to begin with %v", got, c.want)
				}
				if (tally.Beside > 0) != c.beside || tally.LeftOut != c.leftOut || tally.Missed != 0 || tally.Verdict != c.verdict {
					t.Errorf("%d beside another, %d left out, %d missed, %s; want %v, %d, 0, %s",
						tally.Beside, tally.LeftOut, tally.Missed, tally.Verdict, c.beside, c.leftOut, c.verdict)
				}
			})
		})
	}
}

// A replica that dies in the midst of a long run is no reason to leave out a tick for ever.
func TestLongJobOfADeadHolder(t *testing.T) {
	const work = 1200 * time.Millisecond
	inWorld(t, group{v1, late, work}, func(t *testing.T, w *world) {
		w.until(0, 500*time.Millisecond)
		w.replicas[0].client.Close() // it is not heard of any more
		w.until(4, 500*time.Millisecond)
		tally := w.tally(4, work)
		if tally.Runs != 1 || tally.LeftOut != 1 || tally.Missed != 3 || tally.Verdict != verdict.Broken {
			t.Errorf("%+v: %d left out, %d missed, %s; want tick 1 left out, and 3 missed", tally, tally.LeftOut, tally.Missed, tally.Verdict)
		}
	})
}

func TestRedisGoneAndBack(t *testing.T) {
	for name, make := range map[string]maker{"v1": v1, "v4": v4, "v6": v6} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, group{make: make, late: late}, func(t *testing.T, w *world) {
				w.until(0, 100*time.Millisecond) // one holds the lock
				w.redis.SetError("LOADING gone")
				w.until(3, 500*time.Millisecond)
				said := 0
				for _, r := range w.replicas {
					for _, err := range r.heard() {
						said++
						if !errors.Is(err, lock.ErrUnavailable) {
							t.Errorf("said: %v", err)
						}
					}
				}
				if said < 10 || said > 10+4 { // the last one at tick 0, all of them at three more; and the lock is not given back
					t.Errorf("%d errors in three ticks of three replicas", said)
				}
				w.redis.SetError("")
				w.until(7, 500*time.Millisecond)
				if got := w.counts(7); !slices.Equal(got[:4], []int{1, 0, 0, 0}) || !slices.Equal(got[5:], []int{1, 1, 1}) {
					t.Errorf("the ticks were run %v times; want none while Redis was gone, and one each when it was back", got)
				}
			})
		})
	}
}

func TestTick(t *testing.T) {
	for _, c := range []struct {
		after time.Duration // tick 0
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

func TestVerdict(t *testing.T) {
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
		{"beside", []job.Run{once(0), once(1), {Tick: tick(2), End: at(2, 1), Beside: true}}, 0, 1, 0, 0, verdict.Broken, 1},
		{"died at work", []job.Run{{Tick: tick(0)}, once(2)}, 0, 0, 1, 0, verdict.Holds, 0},
		{"died at work, and never again", []job.Run{{Tick: tick(0)}}, 0, 0, 1, 1, verdict.Broken, 1},
	} {
		tally := job.NewTally(c.runs, every, 1200*time.Millisecond, tick(0), tick(2))
		if got := tally.Verdict; got != c.want || got.ExitCode() != c.code || tally.Ticks != 3 || len(tally.Counts) != 3 ||
			tally.More != c.more || tally.Beside != c.beside || tally.LeftOut != c.leftOut || tally.Missed != c.missed {
			t.Errorf("%s: %s, exit code %d, %+v; want %+v", c.what, got, got.ExitCode(), tally, c)
		}
		if tally.Once+tally.More+tally.None != tally.Ticks {
			t.Errorf("%s: %d once, %d more, %d none", c.what, tally.Once, tally.More, tally.None)
		}
	}
	if tally := job.NewTally(nil, every, 0, tick(0), tick(job.MaxTicks)); tally.Ticks != job.MaxTicks || !tally.Counts[0].Tick.Equal(tick(1)) {
		t.Errorf("%d ticks from %v", tally.Ticks, tally.Counts[0].Tick)
	}
	full := slices.Repeat([]job.Run{once(1)}, job.MaxTicks+1) // what came before has been forgotten
	if tally := job.NewTally(append(full, once(2)), every, 0, tick(0), tick(2)); tally.Ticks != 1 || tally.Once != 1 {
		t.Errorf("of a full record: %d ticks, %d once", tally.Ticks, tally.Once)
	}
}

// Redis tells the order of what happened: who began before another had ended was beside it.
func TestRecord(t *testing.T) {
	inWorld(t, group{}, func(t *testing.T, w *world) {
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
		begin(3) // never heard of again
		end(begin(4))
		runs, err := w.record.Runs(t.Context())
		if err != nil || len(runs) != 5 {
			t.Fatalf("%+v, %v", runs, err)
		}
		for i, run := range runs {
			if !run.Tick.Equal(tick(i)) || run.Beside != (i == 2) || run.End.IsZero() != (i == 3) {
				t.Errorf("run %d: %+v", i, run)
			}
			if run.Replica != "r7" || !run.Began.Equal(time.Now()) {
				t.Errorf("run %d of replica %s began at %v", i, run.Replica, run.Began)
			}
			if i != 3 && !run.End.Equal(time.Now()) { // all in one moment of virtual time
				t.Errorf("run %d ended at %v", i, run.End)
			}
		}
		if ttl := w.outside.TTL(t.Context(), "{job}:events").Val(); ttl != job.MaxTicks*time.Second {
			t.Errorf("the record expires in %v", ttl)
		}
		end("0-1")       // of a run whose beginning is forgotten
		for range 1500 { // more than are read at once
			end(begin(6))
		}
		if runs, err := w.record.Runs(t.Context()); err != nil || len(runs) != 1505 {
			t.Errorf("%d runs, %v", len(runs), err)
		}
		w.outside.XAdd(t.Context(), &redis.XAddArgs{Stream: "{job}:events", Values: []string{"tick", "x"}})
		if _, err := w.record.Runs(t.Context()); err == nil {
			t.Error("a tick that is no time is counted")
		}
	})
}

func TestMeans(t *testing.T) {
	for result, says := range map[*job.Tally]string{
		{Verdict: verdict.Unknown}:                      "before one tick was over",
		{Verdict: verdict.Unknown, Ticks: 2, Missed: 2}: "redis-cli del job",
		{Verdict: verdict.Holds, Ticks: 2}:              "exactly once",

		{Verdict: verdict.Unknown, Ticks: 2, LeftOut: 2, None: 2}: "a run from before was going on",
		{Verdict: verdict.Holds, Ticks: 3, LeftOut: 2}:            "never two runs at a time, and no tick twice; 2 ticks were left out",
		{Verdict: verdict.Broken, Beside: 1, More: 1, Missed: 1, Ticks: 3}: "overlapped; some ticks were run more than once; " +
			"some ticks were missed",
	} {
		if got := result.Means(); !strings.Contains(got, says) {
			t.Errorf("%+v means %q; want %q", result, got, says)
		}
	}
}
