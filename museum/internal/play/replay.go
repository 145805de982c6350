package play

import (
	"errors"
	"fmt"
	"time"

	"lockstep/internal/lock/anomaly"
	"lockstep/internal/trace"
	"lockstep/museum/internal/library"
)

// Replayed is a schedule that was run again.
type Replayed struct {
	Trace    trace.Trace
	Found    []anomaly.Found
	Attempts int // until it was as wanted
}

// Replay runs a schedule, and describes it. If it does not fit, or does not show the anomaly that is wanted, it is run again, as often as
// said: the code under test may leave something to chance. No anomaly is wanted if it is "". It fails with ErrStale.
func (s *Stage) Replay(l library.Library, in Scenario, schedule []string, want anomaly.Anomaly, attempts int) (again Replayed, err error) {
	for n := 1; n <= attempts; n++ {
		again = Replayed{Attempts: n}
		var leaked bool
		leaked, err = s.Play(l, in, nil, func(r *Run) error { return again.record(r, schedule) })
		if leaked {
			again.Found = append(again.Found, anomaly.Found{Anomaly: anomaly.GoroutineLeak, Says: Leaked})
		}
		if err != nil && !errors.Is(err, ErrStale) {
			return again, err
		}
		for _, f := range again.Found {
			if again.Trace.Verdict = f.Says; f.Anomaly == want {
				return again, nil
			}
		}
		if err == nil && want == "" {
			return again, nil
		}
	}
	return again, err
}

// record runs a schedule, and takes down what each step does.
func (again *Replayed) record(r *Run, schedule []string) (err error) {
	for _, p := range r.processes {
		again.Trace.Actors = append(again.Trace.Actors, p.name)
	}
	for i, token := range schedule {
		before := r.view()
		if err := r.Do(token); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, token, err)
		}
		again.Trace.Steps = append(again.Trace.Steps, r.describe(before))
	}
	again.Found, err = r.Check()
	return err
}

// view is what a step is compared with: what was so before it.
type view struct {
	at     time.Duration
	states []state
}

func (r *Run) view() view {
	v := view{at: r.now()}
	for _, a := range r.actors {
		now, _ := a.look()
		v.states = append(v.states, now)
	}
	return v
}

// describe completes the description of the last step.
func (r *Run) describe(before view) trace.Step {
	if later := r.now() - before.at; later > 0 {
		said := r.step.Says
		r.step.Says = fmt.Sprintf("%v later", later.Round(time.Millisecond))
		if said != "" {
			r.says(said)
		}
	}
	for i, a := range r.actors {
		switch now, err := a.look(); {
		case now == before.states[i]:
		case now == inside:
			r.says(a.name + " has the lock")
		case now == done && err != nil:
			r.says(fmt.Sprintf("%s fails: %v", a.name, err))
		case now == done:
			r.says(a.name + " has released the lock")
		}
	}
	name, until := r.owner()
	r.step.At, r.step.Lock, r.step.Expires = trace.Millis(r.now()), name, trace.Millis(until)
	for _, p := range r.processes {
		r.step.Standing = append(r.step.Standing, p.stance())
	}
	return r.step
}

// stance is where a process stands: inside if any of its actors is.
func (p *process) stance() trace.Stance {
	begun, over := false, true
	for _, a := range p.actors {
		if a.believes() {
			return trace.Inside
		}
		begun = begun || !a.is(idle)
		over = over && a.is(done)
	}
	switch {
	case over:
		return trace.Ended
	case begun:
		return trace.Outside
	default:
		return trace.Absent
	}
}
