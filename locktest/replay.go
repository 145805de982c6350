package locktest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/trace"
)

// repetitions are how often a schedule is run until it shows what it is to show: the code may leave something to chance.
const repetitions = 100

func (s *stage) show(schedule []string, want Anomaly) (shown Shown, err error) {
	for n := 1; n <= repetitions; n++ {
		var drawing trace.Trace
		shown = Shown{}
		leaked, err := s.play(func(r *run) error { return shown.record(r, schedule, &drawing) })
		if leaked {
			shown.Found = append(shown.Found, Counterexample{Anomaly: GoroutineLeak, Says: leak})
		}
		if err != nil && (!errors.Is(err, errStale) || n == repetitions) {
			return shown, err
		}
		for i, f := range shown.Found {
			shown.Found[i].Schedule = strings.Join(schedule, " ")
			if drawing.Verdict == "" || f.Anomaly == want {
				drawing.Verdict = f.Says
			}
		}
		shown.Drawing = drawing.Sequence()
		if isShown := slices.ContainsFunc(shown.Found, func(f Counterexample) bool {
			return want == f.Anomaly || want == "" && !slices.Contains(s.game.Allow, f.Anomaly)
		}); err == nil && isShown {
			return shown, nil
		}
	}
	if want != "" {
		return shown, fmt.Errorf("%s is not shown in %d runs", want, repetitions)
	}
	return shown, nil
}

// record runs a schedule, and takes down what each step does.
func (shown *Shown) record(r *run, schedule []string, drawing *trace.Trace) (err error) {
	r.drawn = true
	for _, p := range r.processes {
		drawing.Actors = append(drawing.Actors, p.name)
	}
	for i, token := range schedule {
		before := r.view()
		if err := r.do(token); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, token, err)
		}
		drawing.Steps = append(drawing.Steps, r.describe(before))
	}
	shown.Found, err = r.check()
	return err
}

// view is what a step is compared with: what was so before it.
type view struct {
	at     time.Duration
	states []standing
}

func (r *run) view() view {
	v := view{at: r.now()}
	for _, a := range r.actors {
		now, _ := a.look()
		v.states = append(v.states, now)
	}
	return v
}

// describe completes the description of the last step.
func (r *run) describe(before view) trace.Step {
	if later := r.now() - before.at; later > 0 {
		said := r.step.Says
		r.step.Says = fmt.Sprintf("%v later", later.Round(time.Millisecond))
		if said != "" {
			r.addWords(said)
		}
	}
	for i, a := range r.actors {
		switch now, err := a.look(); {
		case now == before.states[i]:
		case now == inside:
			r.addWords(a.name + " has the lock")
		case now == done && err != nil:
			r.addWords(fmt.Sprintf("%s fails: %v", a.name, err))
		case now == done:
			r.addWords(a.name + " has released the lock")
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
