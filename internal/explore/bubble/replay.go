package bubble

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

// Shown is what one schedule has shown.
type Shown struct {
	Found   []Finding
	Drawing string // a sequence diagram
}

// Show runs one schedule until it shows a finding of the kind that is wanted, or any that is looked for if want is "", but at most a
// hundred times, as chance may lead elsewhere. It fails if the schedule has a step that the code cannot do.
func (s *Stage) Show(schedule []string, want string) (shown Shown, err error) {
	for n := 1; n <= repetitions; n++ {
		var drawing trace.Trace
		shown = Shown{}
		leaked, err := s.play(func(r *Run) error { return shown.record(r, schedule, &drawing) })
		if leaked != "" {
			shown.Found = append(shown.Found, Finding{Kind: GoroutineLeak, Says: leaked})
		}
		if err != nil && (!errors.Is(err, errStale) || n == repetitions) {
			return shown, err
		}
		for i, f := range shown.Found {
			shown.Found[i].Schedule = strings.Join(schedule, " ")
			if drawing.Verdict == "" || f.Kind == want {
				drawing.Verdict = f.Says
			}
		}
		shown.Drawing = drawing.Sequence()
		if isShown := slices.ContainsFunc(shown.Found, func(f Finding) bool {
			return want == f.Kind || want == "" && slices.Contains(s.limits.Kinds, f.Kind)
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
func (shown *Shown) record(r *Run, schedule []string, drawing *trace.Trace) (err error) {
	r.drawn = true
	for _, p := range r.processes {
		drawing.Actors = append(drawing.Actors, p.Name)
	}
	for i, token := range schedule {
		at, before := r.Now(), r.standings()
		if err := r.do(token); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, token, err)
		}
		drawing.Steps = append(drawing.Steps, r.describe(at, before))
	}
	shown.Found = slices.Clone(r.game.Seen())
	found, err := r.game.Judge()
	shown.Found = append(shown.Found, found...)
	return err
}

func (r *Run) standings() (all []Standing) {
	for _, a := range r.actors {
		now, _ := a.Look()
		all = append(all, now)
	}
	return all
}

// describe completes the description of the last step. Before it, it was that late, and the actors stood there.
func (r *Run) describe(at time.Duration, before []Standing) trace.Step {
	if later := r.Now() - at; later > 0 {
		said := r.step.Says
		r.step.Says = fmt.Sprintf("%v later", later.Round(time.Millisecond))
		if said != "" {
			r.addWords(said)
		}
	}
	var moved []*Actor
	for i, now := range r.standings() {
		if now != before[i] {
			moved = append(moved, r.actors[i])
		}
	}
	r.step.At = trace.Millis(r.Now())
	for _, p := range r.processes {
		r.step.Standing = append(r.step.Standing, p.stance())
	}
	for _, says := range r.game.Describe(&r.step, moved) {
		r.addWords(says)
		r.step.Notable = true
	}
	return r.step
}

// stance is where a process stands.
func (p *Process) stance() trace.Stance {
	begun, over := false, true
	for _, a := range p.Actors {
		begun = begun || !a.Is(Idle)
		over = over && a.Is(Done)
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
