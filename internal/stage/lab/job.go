package lab

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lockstep/internal/cluster/job"
	"lockstep/internal/dao"
	"lockstep/internal/lock"
	"lockstep/internal/watch/witness"
)

const (
	jobName   = "job"           // as lockstep job calls it
	everyTick = 3 * time.Second // long enough for a machine that stalls now and then: a replica has two fifths of it to begin in
)

// Job is a scheduled job. The replicas are those of lockstep job, and what they did is what Redis has recorded.
type Job struct {
	Every time.Duration
	Work  time.Duration // how long a run takes
}

// record is what Redis has recorded of a job.
type record struct {
	*job.Runs

	stage *Stage
	work  time.Duration
	first time.Time // the tick that is called 1
}

// openRecord opens the record of a job whose replicas are all up. Its first tick is the next one.
func openRecord(s *Stage, j Job) (*record, error) {
	redis, err := dao.Open(s.ctx, dao.Config{Addrs: []string{s.masters[0].addr}})
	if err != nil {
		return nil, err
	}
	s.atEnd(redis.Close)
	return &record{
		stage: s, Runs: &job.Runs{Client: redis.Store, Name: jobName, Every: job.Every(j.Every), Events: job.MaxEvents},
		work: j.Work, first: time.Now().Truncate(j.Every).Add(j.Every),
	}, nil
}

// number gives the number of a tick: 1 is the first after all replicas were up. tick gives the time when it begins.
func (r *record) number(tick time.Time) int { return int(tick.Sub(r.first)/time.Duration(r.Every)) + 1 }
func (r *record) tick(number int) time.Time {
	return r.first.Add(time.Duration(number-1) * time.Duration(r.Every))
}

// KillRunner waits for the first run of a tick, and kills its replica, which has the lock.
func (r *record) KillRunner(tick int) {
	s := r.stage
	s.insist(runOf(tick), func() error {
		runs, _, err := r.All(s.ctx)
		i := slices.IndexFunc(runs, func(run job.Run) bool { return r.number(run.Tick) == tick })
		if i < 0 {
			return errors.Join(err, errNotKnown)
		}
		s.Kill(runs[i].Replica)
		return nil
	})
}

// AwaitTicks waits until so many ticks are over, and notes their runs, and those that nobody has run, as the record tells.
func (r *record) AwaitTicks(n int) {
	s := r.stage
	last := r.tick(n)
	s.do(passing(n), func() error {
		if err := lock.Sleep(s.ctx, lock.SystemClock{}, time.Until(last.Add(r.Every.Over()))); err != nil {
			return err
		}
		runs, _, err := r.All(s.ctx)
		if err != nil {
			return err
		}
		for _, e := range r.events(runs, last) {
			s.collected.Record(e)
		}
		return nil
	})
}

// events tells what the record says up to a tick. What came before every replica was up is left out.
func (r *record) events(runs []job.Run, last time.Time) (all []witness.Event) {
	see := func(kind witness.Kind, replica, name string, tick int, at time.Time) {
		all = append(all, witness.Event{Kind: kind, Replica: replica, Sale: name, Tick: tick, Sent: at, Replied: at})
	}
	times := map[string]int{} // how often a replica has begun a run
	for _, run := range runs {
		tick := r.number(run.Tick)
		if tick < 1 {
			continue
		}
		times[run.Replica]++
		name := fmt.Sprintf("%s#%d", run.Replica, times[run.Replica])
		see(witness.KindRuns, run.Replica, name, tick, run.Began)
		if !run.End.IsZero() {
			see(witness.KindRan, run.Replica, name, tick, run.End)
		}
	}
	for i, count := range job.NewTally(runs, r.Every, r.work, r.first, last).Counts {
		see(witness.KindTick, "", "", i+1, r.tick(i+1))
		if count.Runs == 0 && !count.Busy {
			see(witness.KindMissed, "", "", i+1, r.tick(i+1).Add(r.Every.Over()))
		}
	}
	return all
}

// WatchAttempts watches which replicas ask for the job's lock, while a scenario goes on, and notes it: the record has only who got it.
func (r *record) WatchAttempts(scenario func()) {
	s := r.stage
	node, traps := s.lockOn(1), map[string]Trap{}
	ofTheJob := func(args []string) bool { return slices.Contains(args[1:], jobName) }
	for replica := range s.addresses {
		traps[replica] = s.Pass(replica, node, ofTheJob)
	}
	scenario()
	for replica, trap := range traps {
		if trap.IsCaught() {
			s.note(replica, node, witness.KindTries)
		}
	}
}

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
