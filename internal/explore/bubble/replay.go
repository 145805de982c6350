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
const maxReplays = 100

// Shown is what one schedule has shown.
type ReplayResult struct {
	Violations []Violation
	Drawing    string // a sequence diagram
}

// Show runs one schedule until it shows a finding of the kind that is wanted, or any that is looked for if want is "", but at most a
// hundred times, as chance may lead elsewhere. It fails if the schedule has a step that the code cannot do.
func (e *Explorer) Reproduce(schedule []string, want string) (result ReplayResult, err error) {
	for n := 1; n <= maxReplays; n++ {
		var drawing trace.Trace
		result = ReplayResult{}
		leaked, err := e.play(func(r *Run) error { return result.record(r, schedule, &drawing) })
		if leaked != "" {
			result.Violations = append(result.Violations, Violation{Kind: GoroutineLeak, Says: leaked})
		}
		if err != nil && (!errors.Is(err, errStale) || n == maxReplays) {
			return result, err
		}
		for i, f := range result.Violations {
			result.Violations[i].Schedule = strings.Join(schedule, " ")
			if drawing.Verdict == "" || f.Kind == want {
				drawing.Verdict = f.Says
			}
		}
		result.Drawing = drawing.Sequence()
		if isReproduced := slices.ContainsFunc(result.Violations, func(f Violation) bool {
			return want == f.Kind || want == "" && slices.Contains(e.limits.Kinds, f.Kind)
		}); err == nil && isReproduced {
			return result, nil
		}
	}
	if want != "" {
		return result, fmt.Errorf("%s is not shown in %d runs", want, maxReplays)
	}
	return result, nil
}

// record runs a schedule, and takes down what each step does.
func (result *ReplayResult) record(r *Run, schedule []string, drawing *trace.Trace) (err error) {
	r.isDrawn = true
	for _, p := range r.processes {
		drawing.Actors = append(drawing.Actors, p.Name)
	}
	for i, token := range schedule {
		at, before := r.Now(), r.phases()
		if err := r.takeStep(token); err != nil {
			return fmt.Errorf("step %d, %s: %w", i+1, token, err)
		}
		drawing.Steps = append(drawing.Steps, r.describeStep(at, before))
	}
	result.Violations = slices.Clone(r.game.Violations())
	found, err := r.game.Judge()
	result.Violations = append(result.Violations, found...)
	return err
}

func (r *Run) phases() (all []Phase) {
	for _, a := range r.actors {
		now, _ := a.Status()
		all = append(all, now)
	}
	return all
}

// describe completes the description of the last step. Before it, it was that late, and the actors stood there.
func (r *Run) describeStep(at time.Duration, before []Phase) trace.Step {
	if later := r.Now() - at; later > 0 {
		does := r.currentStep.Says
		r.currentStep.Says = fmt.Sprintf("%v later", later.Round(time.Millisecond))
		if does != "" {
			r.addDescription(does)
		}
	}
	var moved []*Actor
	for i, now := range r.phases() {
		if now != before[i] {
			moved = append(moved, r.actors[i])
		}
	}
	r.currentStep.At = trace.Millis(r.Now())
	for _, p := range r.processes {
		r.currentStep.Standing = append(r.currentStep.Standing, p.stance())
	}
	for _, says := range r.game.Describe(&r.currentStep, moved) {
		r.addDescription(says)
		r.currentStep.Notable = true
	}
	return r.currentStep
}

// stance is where a process stands.
func (p *Process) stance() trace.Stance {
	begun, over := false, true
	for _, a := range p.Actors {
		begun = begun || !a.IsIn(NotStarted)
		over = over && a.IsIn(Done)
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
