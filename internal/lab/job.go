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
	jobName   = "job"           // name that lockstep job uses
	everyTick = 3 * time.Second // long enough for a machine that stalls now and then: a replica may begin two fifths of it late
)

// Job is a scheduled job with a tick every everyTick. Its replicas are those of lockstep job, and its outcome is read from their record in
// Redis.
type Job struct {
	Work    time.Duration // duration of a run
	IsCache bool          // the job computes a cached value, which expires at each tick
}

// record is the record of a job in Redis.
type record struct {
	job.Record

	stage   *Stage
	work    time.Duration
	first   time.Time // the tick that is called 1
	isCache bool      // the job computes a cached value
}

// openRecord opens the record of a job whose replicas are all up. Its first tick is the next one.
func openRecord(s *Stage, j Job) (*record, error) {
	redis, err := dao.Open(s.ctx, dao.Config{Addrs: []string{s.masters[0].addr}})
	if err != nil {
		return nil, err
	}
	s.atEnd(redis.Close)
	first := time.Now().Truncate(everyTick).Add(everyTick)
	return &record{job.Record{Client: redis.Store, Every: job.TickLength(everyTick)}, s, j.Work, first, j.IsCache}, nil
}

// KillRunner waits for the first run of the first tick, and kills its replica, which has the lock.
func (r *record) KillRunner() {
	s := r.stage
	s.retry(runOf(1), func() error {
		runs, err := r.Runs(s.ctx)
		i := slices.IndexFunc(runs, func(run job.Run) bool { return run.Tick.Equal(r.first) })
		if i < 0 {
			return errors.Join(err, errNotKnown)
		}
		s.Kill(runs[i].Replica)
		return nil
	})
}

// AwaitTicks waits for the end of n ticks, and notes their runs and the missed ticks from the record.
func (r *record) AwaitTicks(n int) {
	s := r.stage
	last := r.Every.AddTicks(r.first, n-1)
	s.do(passing(n), func() error {
		if err := lock.Sleep(s.ctx, lock.SystemClock{}, time.Until(last.Add(r.Every.RunWindow()))); err != nil {
			return err
		}
		runs, err := r.Runs(s.ctx)
		if err != nil {
			return err
		}
		for _, e := range r.events(runs, last) {
			s.collected.Record(e)
		}
		return nil
	})
}

// events returns the events of the recorded ticks, from the first one after every replica was up.
func (r *record) events(runs []job.Run, last time.Time) (all []witness.Event) {
	begun := map[string]int{} // runs, by replica
	for i, count := range job.NewTally(runs, r.Every, r.work, r.first, last).Counts {
		see := func(kind witness.Kind, replica, name string, at time.Time) {
			all = append(all, witness.Event{Kind: kind, Replica: replica, Sale: name, Tick: i + 1, Cache: r.isCache, Sent: at, Replied: at})
		}
		see(witness.KindTickBegins, "", "", count.Tick)
		for _, run := range runs {
			if !run.Tick.Equal(count.Tick) {
				continue
			}
			begun[run.Replica]++
			name := fmt.Sprintf("%s#%d", run.Replica, begun[run.Replica])
			see(witness.KindRunBegins, run.Replica, name, run.Began)
			if !run.End.IsZero() {
				see(witness.KindRunEnds, run.Replica, name, run.End)
			}
		}
		if count.Runs == 0 && !count.LeftOut {
			see(witness.KindTickMissed, "", "", count.Tick.Add(r.Every.RunWindow()))
		}
	}
	return all
}

// WatchTicks is AwaitTicks, and also notes which replicas request the job's lock: the record has only the replica that obtained it.
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
		s.collected.Record(try)
		if refusal, ok := r.refusal(try, s.collected.Events()); ok {
			s.collected.Record(refusal)
		}
	}
}

// refusal returns the event that a replica was refused the lock of a cached value when it tried. ok is false if the job is no cache, or if
// the replica ran it.
func (r *record) refusal(try witness.Event, events []witness.Event) (refused witness.Event, ok bool) {
	refused = try
	refused.Kind, refused.Sale, refused.Cache = witness.KindLockRefused, try.Replica+"#1", true
	return refused, r.isCache && !moment(try.Replica, witness.KindRunBegins)(events)
}

func runs(tick int) match {
	return func(e witness.Event) bool { return e.Kind == witness.KindRunBegins && e.Tick == tick }
}

// outlasted reports whether some run was still in progress when the next tick began. The run of the first tick is not counted if one that
// began before all replicas were up was in progress then.
func outlasted(events []witness.Event) bool {
	return slices.ContainsFunc(events, func(run witness.Event) bool {
		next := func(e witness.Event) bool { return e.Kind == witness.KindTickBegins && e.Tick == run.Tick+1 }
		return run.Kind == witness.KindRunBegins && some(next)(events) && !before(next, moment(run.Sale, witness.KindRunEnds))(events)
	})
}

// diedWithTheJob reports whether the first runner died while its replica kept the lock.
func diedWithTheJob(keeps time.Duration) Condition {
	return func(events []witness.Event) bool {
		i := slices.IndexFunc(events, runs(1))
		return i >= 0 && within(keeps, runs(1), ofKind(events[i].Replica, witness.KindDies))(events)
	}
}
