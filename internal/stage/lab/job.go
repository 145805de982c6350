package lab

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/lock"
	"lockstep/internal/shop/job"
	"lockstep/internal/watch/witness"
)

// jobName is the job's, as lockstep job calls it.
const jobName = "job"

// Job is a scheduled job. The replicas are those of lockstep job, and what they did is what Redis has recorded.
type Job struct {
	Every time.Duration
	Work  time.Duration // how long a run takes
}

// record is what Redis has recorded of a job, followed while it goes on.
type record struct {
	*job.Runs

	work  time.Duration
	first time.Time         // the tick that is called 1
	seen  map[string]string // the runs' names, by id
	ended map[string]bool   // runs, by id
	times map[string]int    // how often a replica has begun a run
	close func() error
}

// openRecord opens the record of a job whose replicas are all up. Its first tick is the next one.
func openRecord(ctx context.Context, j Job, addr string) (*record, error) {
	redis, err := dao.Open(ctx, dao.Config{Addrs: []string{addr}})
	if err != nil {
		return nil, err
	}
	return &record{
		Runs: &job.Runs{Client: redis.Store, Name: jobName, Every: job.Every(j.Every), Events: job.MaxEvents},
		work: j.Work, first: time.Now().Truncate(j.Every).Add(j.Every),
		seen: map[string]string{}, ended: map[string]bool{}, times: map[string]int{}, close: redis.Close,
	}, nil
}

// followJob notes what the record says, until ctx ends.
func (s *Stage) followJob(ctx context.Context) {
	s.following.Go(func() {
		for lock.Sleep(ctx, lock.SystemClock{}, askAgain) == nil {
			if runs, _, err := s.record.All(ctx); err == nil { // or it says so another time
				s.record.tell(runs, s.collected.See)
			}
		}
	})
}

// tell sees what is new in the record.
func (r *record) tell(runs []job.Run, see func(witness.Event)) {
	for _, run := range runs {
		tick := r.number(run.Tick)
		if tick < 1 {
			continue // not every replica was up
		}
		if r.seen[run.ID] == "" {
			r.times[run.Replica]++
			r.seen[run.ID] = fmt.Sprintf("%s#%d", run.Replica, r.times[run.Replica])
			see(momentOfRun(witness.KindRuns, run.Replica, r.seen[run.ID], tick, run.Began))
		}
		if !run.End.IsZero() && !r.ended[run.ID] {
			r.ended[run.ID] = true
			see(momentOfRun(witness.KindRan, run.Replica, r.seen[run.ID], tick, run.End))
		}
	}
}

func momentOfRun(kind witness.Kind, replica, name string, tick int, at time.Time) witness.Event {
	return witness.Event{Kind: kind, Replica: replica, Sale: name, Tick: tick, Sent: at, Replied: at}
}

// number is a tick's: 1 for the first after all replicas were up.
func (r *record) number(tick time.Time) int { return int(tick.Sub(r.first)/time.Duration(r.Every)) + 1 }

// tick is when a tick begins.
func (r *record) tick(number int) time.Time {
	return r.first.Add(time.Duration(number-1) * time.Duration(r.Every))
}

// Ticks waits until so many ticks are over, and notes those that nobody has run, as the record tells.
func (s *Stage) Ticks(n int) {
	if s.err != nil {
		return
	}
	r := s.record
	last := r.tick(n)
	if err := lock.Sleep(s.ctx, lock.SystemClock{}, time.Until(last.Add(r.Every.Over()))); err != nil {
		s.err = fmt.Errorf("tick %d: %w", n, err)
		return
	}
	runs, _, err := r.All(s.ctx)
	if err != nil {
		s.err = err
		return
	}
	s.Until("the record to be seen", r.isSeen(runs))
	for i, count := range job.NewTally(runs, r.Every, r.work, r.first, last) {
		at := r.tick(i + 1)
		s.collected.See(witness.Event{Kind: witness.KindTick, Tick: i + 1, Sent: at, Replied: at})
		if over := at.Add(r.Every.Over()); count.Runs == 0 && !count.Busy {
			s.collected.See(witness.Event{Kind: witness.KindMissed, Tick: i + 1, Sent: over, Replied: over})
		}
	}
}

// isSeen reports whether the witness has seen all that is recorded of some runs.
func (r *record) isSeen(runs []job.Run) Condition {
	began, ended := 0, 0
	for _, run := range runs {
		if r.number(run.Tick) < 1 {
			continue
		}
		if began++; !run.End.IsZero() {
			ended++
		}
	}
	return all(atLeast(began, "", witness.KindRuns), atLeast(ended, "", witness.KindRan))
}

// KillRunner waits for the first run of a tick, and kills its replica, which has the lock.
func (s *Stage) KillRunner(tick int) {
	replica := ""
	s.Until(fmt.Sprintf("a run of tick %d", tick), func(events []witness.Event) bool {
		i := slices.IndexFunc(events, runs(tick))
		if i >= 0 {
			replica = events[i].Replica
		}
		return i >= 0
	})
	s.Kill(replica)
}

// ofTheJob reports whether a command is of the job's lock.
func ofTheJob(args []string) bool { return slices.Contains(args[1:], jobName) }

// SeeTries watches which replicas ask for the job's lock, while a scenario goes on, and notes it: the record has only who got it.
func (s *Stage) SeeTries(replicas []string, scenario func()) {
	node, traps := 0, map[string]Trap{}
	if s.onNodes {
		node = 1
	}
	for _, replica := range replicas {
		traps[replica] = s.Pass(replica, node, ofTheJob)
	}
	scenario()
	for replica, trap := range traps {
		if trap.IsCaught() {
			s.note(replica, node, witness.KindTries)
		}
	}
}
