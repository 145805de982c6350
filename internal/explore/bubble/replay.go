package bubble

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/trace"
)

// maxReplays is the largest number of times that a schedule is run to reproduce a violation. The code may depend on chance; a random choice
// between two cases needs only a few runs.
const maxReplays = 100

// ReplayResult is the result of running one schedule.
type ReplayResult struct {
	Violations []Violation // violations of the last run
	Drawing    string      // sequence diagram, as text
}

// Reproduce runs one schedule until it shows a violation of the kind want, or of any kind in Limits.Kinds if want is "". It runs the
// schedule at most maxReplays times, because chance may lead a run elsewhere. It fails if no run shows want, or if the schedule has a step
// that the code cannot take.
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
		for i, v := range result.Violations {
			result.Violations[i].Schedule = strings.Join(schedule, " ")
			if drawing.Verdict == "" || v.Kind == want {
				drawing.Verdict = v.Says
			}
		}
		result.Drawing = drawing.Sequence()
		if isReproduced := slices.ContainsFunc(result.Violations, func(v Violation) bool {
			return want == v.Kind || want == "" && slices.Contains(e.limits.Kinds, v.Kind)
		}); err == nil && isReproduced {
			return result, nil
		}
	}
	if want != "" {
		return result, fmt.Errorf("%s is not shown in %d runs", want, maxReplays)
	}
	return result, nil
}

// record runs a schedule, draws each step, and judges the last state.
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

// phases returns the phase of each actor.
func (r *Run) phases() (all []Phase) {
	for _, a := range r.actors {
		now, _ := a.Status()
		all = append(all, now)
	}
	return all
}

// describeStep completes and returns the description of the last step. start and before are the time and the actors' phases before it.
func (r *Run) describeStep(start time.Duration, before []Phase) trace.Step {
	if later := r.Now() - start; later > 0 {
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

// stance returns the state of a process for its lifeline in the drawing.
func (p *Process) stance() trace.Stance {
	hasStarted, hasEnded := false, true
	for _, a := range p.Actors {
		hasStarted = hasStarted || !a.IsIn(NotStarted)
		hasEnded = hasEnded && a.IsIn(Done)
	}
	switch {
	case hasEnded:
		return trace.Ended
	case hasStarted:
		return trace.Outside
	default:
		return trace.Absent
	}
}
