package job_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"lockstep/internal/job"
	"lockstep/internal/lock"
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
	t.Run("v1", func(t *testing.T) {
		inWorld(t, group{make: v1, late: late}, func(t *testing.T, w *world) {
			if kill(w, true); !slices.Equal(w.counts(4), []int{1, 1, 0, 0, 0}) {
				t.Errorf("the ticks were run %v times", w.counts(4))
			}
		})
	})
}

// A job longer than its tick: locks that expire let the next tick begin, beside it; renewed ones leave out the ticks until it is done. And
// v2, done with the first, deletes the lock of the second.
func TestLongJob(t *testing.T) {
	soon := []time.Duration{0, 5 * time.Millisecond, 10 * time.Millisecond}
	for _, c := range []struct {
		name string
		make maker
		late []time.Duration
		want []int
	}{
		{"v2", v2, late, []int{1, 2}}, {"v4", v4, late, []int{1, 1, 1, 1, 1}}, {"v6", v6, soon, []int{1, 0, 1, 0, 1}},
		{"local", local, soon[:1], []int{1, 0, 1, 0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, group{c.make, c.late, 1200 * time.Millisecond}, func(t *testing.T, w *world) {
				w.until(4, 500*time.Millisecond)
				if got := w.counts(4); !slices.Equal(got[:len(c.want)], c.want) {
					t.Errorf("the ticks were run %v times; want them to begin with %v", got, c.want)
				}
			})
		})
	}
}

func TestRedisGoneAndBack(t *testing.T) {
	for name, make := range map[string]maker{"v1": v1, "v4": v4, "v6": v6} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, group{make: make, late: late}, func(t *testing.T, w *world) {
				w.until(0, 100*time.Millisecond) // one holds the lock
				w.redis.SetError("gone")
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
		if got, late := every.Tick(now), every.Late(now); !got.Equal(tick(c.tick)) || late != c.late {
			t.Errorf("%v after tick 0: %v, late %v; want tick %d, late %v", c.after, got, late, c.tick, c.late)
		}
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		runs []int
		want job.Verdict
		code int
	}{
		{nil, job.Unknown, 2}, {[]int{0, 0}, job.Unknown, 2}, {[]int{1, 1}, job.Holds, 0},
		{[]int{1, 0}, job.Broken, 1}, {[]int{1, 2}, job.Broken, 1}, {[]int{2, 0}, job.Broken, 1},
	} {
		var tally job.Tally
		for i, runs := range c.runs {
			tally = append(tally, job.Count{Tick: tick(i), Runs: runs})
		}
		if got := tally.Verdict(); got != c.want || got.ExitCode() != c.code {
			t.Errorf("%v: %s, exit code %d; want %s, %d", c.runs, got, got.ExitCode(), c.want, c.code)
		}
		if tally.Once()+tally.More()+tally.None() != len(c.runs) {
			t.Errorf("%v: %d once, %d more, %d none", c.runs, tally.Once(), tally.More(), tally.None())
		}
	}
}

// The record forgets what is MaxTicks old, and itself some time after the last run.
func TestRecordForgets(t *testing.T) {
	inWorld(t, group{}, func(t *testing.T, w *world) {
		for _, i := range []int{0, 1, job.MaxTicks} {
			if err := w.runs.Record(t.Context(), tick(i)); err != nil {
				t.Fatal(err)
			}
		}
		fields, err := w.outside.HKeys(t.Context(), "{job}:runs").Result()
		slices.Sort(fields)
		if want := []string{"2000-01-01T00:00:11Z", "2000-01-02T03:46:50Z"}; err != nil || !slices.Equal(fields, want) {
			t.Errorf("the record has %v, %v; want %v", fields, err, want)
		}
		if ttl := w.outside.TTL(t.Context(), "{job}:runs").Val(); ttl != job.MaxTicks*time.Second {
			t.Errorf("it expires in %v", ttl)
		}
		tally, err := w.runs.Count(t.Context(), tick(0), tick(job.MaxTicks))
		if err != nil || len(tally) != job.MaxTicks || tally.Runs() != 2 || !tally[0].Tick.Equal(tick(1)) {
			t.Errorf("%d ticks from %v, %d runs, %v", len(tally), tally[0].Tick, tally.Runs(), err)
		}
		w.outside.HSet(t.Context(), "{job}:runs", "2000-01-01T00:00:11Z", "x")
		if _, err := w.runs.Count(t.Context(), tick(1), tick(1)); err == nil || fmt.Sprint(err) == "" {
			t.Error("a count that is no number is counted")
		}
	})
}
