package lab

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lockstep/internal/cluster/job"
	"lockstep/internal/dao"
	"lockstep/internal/lock"
	"lockstep/internal/witness"
)

const (
	jobName      = "job"           // name that lockstep job uses
	tickInterval = 3 * time.Second // time between ticks: long enough for a slow machine, as a run may begin two fifths of an interval late
)

// Job is a scheduled job with a tick every tickInterval. Its replicas run lockstep job, and its outcome is read from their record in Redis.
type Job struct {
	Work    time.Duration // duration of a run
	IsCache bool          // the job computes a cached value, which expires at each tick
}

// record is the record of a job in Redis.
type record struct {
	job.Record

	stage   *Stage        // stage of the replicas
	work    time.Duration // duration of a run
	first   time.Time     // time of tick 1
	isCache bool          // the job computes a cached value
}

// openRecord opens the record of a job whose replicas are all up. Its first tick is the next one.
func openRecord(s *Stage, j Job) (*record, error) {
	redis, err := dao.Open(s.ctx, dao.Config{Addrs: []string{s.masters[0].addr}})
	if err != nil {
		return nil, err
	}
	s.atEnd(redis.Close)
	first := time.Now().Truncate(tickInterval).Add(tickInterval)
	return &record{job.Record{Client: redis.Store, Every: job.TickLength(tickInterval)}, s, j.Work, first, j.IsCache}, nil
}

// KillRunner waits for the first run of the first tick, and kills the replica that runs it and has the lock.
func (r *record) KillRunner() {
	s := r.stage
	s.retry(runStep(1), func() error {
		runs, err := r.Runs(s.ctx)
		i := slices.IndexFunc(runs, func(run job.Run) bool { return run.Tick.Equal(r.first) })
		if i < 0 {
			return errors.Join(err, errNotKnown)
		}
		s.Kill(runs[i].Replica)
		return nil
	})
}

// AwaitTicks waits for the end of n ticks. It then records the runs and the missed ticks as events.
func (r *record) AwaitTicks(n int) {
	s := r.stage
	last := r.Every.AddTicks(r.first, n-1)
	s.do(tickStep(n), func() error {
		if err := lock.Sleep(s.ctx, lock.SystemClock{}, time.Until(last.Add(r.Every.RunWindow()))); err != nil {
			return err
		}
		runs, err := r.Runs(s.ctx)
		if err != nil {
			return err
		}
		for _, e := range r.events(runs, last) {
			s.collector.Record(e)
		}
		return nil
	})
}

// events returns the events of the ticks from the first one after every replica was up, r.first, to last.
func (r *record) events(runs []job.Run, last time.Time) (all []witness.Event) {
	begun := map[string]int{} // number of runs, by replica
	for i, count := range job.NewTally(runs, r.Every, r.work, r.first, last).Counts {
		add := func(kind witness.Kind, replica, name string, at time.Time) {
			all = append(all, witness.Event{Kind: kind, Replica: replica, Sale: name, Tick: i + 1, Cache: r.isCache, Sent: at, Replied: at})
		}
		add(witness.KindTickBegins, "", "", count.Tick)
		for _, run := range runs {
			if !run.Tick.Equal(count.Tick) {
				continue
			}
			begun[run.Replica]++
			name := fmt.Sprintf("%s#%d", run.Replica, begun[run.Replica])
			add(witness.KindRunBegins, run.Replica, name, run.Began)
			if !run.End.IsZero() {
				add(witness.KindRunEnds, run.Replica, name, run.End)
			}
		}
		if count.Runs == 0 && !count.LeftOut {
			add(witness.KindTickMissed, "", "", count.Tick.Add(r.Every.RunWindow()))
		}
	}
	return all
}

// WatchTicks is like AwaitTicks, and also records which replicas tried to get the job's lock: the job's record names only the replica that
// obtained the lock.
func (r *record) WatchTicks(n int) {
	s := r.stage
	node, tries := s.lockOn(1), make(chan witness.Event, len(s.addresses))
	for replica := range s.addresses {
		trap := s.Pass(replica, node, func(args []string) bool { return slices.Contains(args[1:], jobName) })
		s.running.Go(func() {
			if trap.AwaitCaught(s.ctx) {
				now := time.Now()
				tries <- witness.Event{Replica: replica, Kind: witness.KindLockTried, Node: node, Sent: now, Replied: now}
			}
		})
	}
	r.AwaitTicks(n)
	for len(tries) > 0 {
		try := <-tries
		s.collector.Record(try)
		if refusal, ok := r.refusal(try, s.collector.Events()); ok {
			s.collector.Record(refusal)
		}
	}
}

// refusal returns the event of a replica that was refused the lock of a cached value. try is the event of its attempt to get the lock. ok
// is false if the job does not compute a cached value, or if the replica ran the job.
func (r *record) refusal(try witness.Event, events []witness.Event) (refused witness.Event, ok bool) {
	refused = try
	refused.Kind, refused.Sale, refused.Cache = witness.KindLockRefused, try.Replica+"#1", true
	return refused, r.isCache && !hasEvent(try.Replica, witness.KindRunBegins)(events)
}

// runBegins matches the begin of a run of a tick.
func runBegins(tick int) matcher {
	return func(e witness.Event) bool { return e.Kind == witness.KindRunBegins && e.Tick == tick }
}

// outlastsTick is met when some run was still in progress when the next tick began. The events have no runs of ticks before tick 1.
func outlastsTick(events []witness.Event) bool {
	return slices.ContainsFunc(events, func(run witness.Event) bool {
		next := func(e witness.Event) bool { return e.Kind == witness.KindTickBegins && e.Tick == run.Tick+1 }
		return run.Kind == witness.KindRunBegins && some(next)(events) && !metBefore(next, hasEvent(run.Sale, witness.KindRunEnds))(events)
	})
}

// diedWithJobLock is met when the replica with the first run died within keeps, the time for which it keeps the lock.
func diedWithJobLock(keeps time.Duration) Condition {
	return func(events []witness.Event) bool {
		i := slices.IndexFunc(events, runBegins(1))
		return i >= 0 && followsWithin(keeps, runBegins(1), ofKind(events[i].Replica, witness.KindDies))(events)
	}
}
