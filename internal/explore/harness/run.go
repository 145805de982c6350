package harness

import (
	"slices"
	"strings"

	"lockstep/internal/explore/anomaly"
	"lockstep/internal/explore/execution"
	"lockstep/internal/explore/recorder"
	"lockstep/internal/explore/search"
)

// Apply lets a transition happen. It reports false when that turned out to be no transition of its own.
func (r *Run) Apply(t execution.Transition) bool {
	r.checker.Reset()
	return r.Execution.Apply(t)
}

// Check gives the anomalies that the last transition has shown, and whether the schedule is over.
func (r *Run) Check() (found []anomaly.Found, over bool) { return r.checker.Check() }

// Sight implements search.Run.
func (r *Run) Sight() search.Sight {
	return search.Sight{Sold: r.checker.Sold(), Contended: r.checker.Contended(), Beyond: r.Beyond()}
}

// Record makes a recorder of the run.
func (r *Run) Record() *recorder.Recorder { return recorder.New(r.Execution, r.checker) }

// Follow takes the transition that a token of a schedule names, and gives the anomalies that it has shown.
func (r *Run) Follow(token string, record *recorder.Recorder) ([]anomaly.Found, error) {
	want, err := execution.Parse(token)
	if err != nil {
		return nil, err
	}
	var possible []string
	for _, t := range slices.Clone(r.Transitions()) {
		if r.Who(t) != want.Who || !want.Is(t.Kind) {
			possible = append(possible, r.preview(t))
			continue
		}
		found, _, took := r.Step(t, record)
		if step := record.Last(); !took || step.Token != token {
			record.DropLast()
			if step.Token == token {
				return nil, Stale(r.Scenario, "%s would be as it is without that fault", "%s 没有这个故障也一样", want.Who)
			}
			return nil, Stale(r.Scenario, "what %s does next is %s, not %s", "%s 下一步是 %s，不是 %s",
				want.Who, strings.TrimPrefix(step.Token, want.Who+":"), want.Command)
		}
		return found, nil
	}
	if len(possible) == 0 {
		return nil, Stale(r.Scenario, "nothing more can happen by then", "此时已经没有下一步")
	}
	return nil, Stale(r.Scenario, "what can happen by then is %s", "此时可以发生的是 %s", strings.Join(possible, r.Scenario.Say(", ", "、")))
}

// preview writes t as far as it is known before it has happened.
func (r *Run) preview(t execution.Transition) string {
	command := "…"
	if pending := r.Pending(t); pending != nil {
		command, _ = recorder.Describe(pending)
	}
	return execution.Token(t.Kind, r.Who(t), command)
}
