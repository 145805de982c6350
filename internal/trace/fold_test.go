package trace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// tracePolling returns a trace in which B asks so many times while A holds the lock, until A releases it.
func tracePolling(times int) Trace {
	t := Trace{Actors: []string{"A", "B"}}
	held := Step{Lock: "A", Expires: 10 * sec, Standing: []Stance{Inside, Outside}}
	add := func(step Step) {
		step.At = held.At
		t.Steps = append(t.Steps, step)
	}
	takes := held
	takes.Token, takes.Actor, takes.Kind, takes.Command, takes.Says = "A:SET", "A", KindCommand, "SET k A", "A takes the lock"
	add(takes)
	for range times {
		asks, later := held, held
		asks.Token, asks.Actor, asks.Kind, asks.Says = "B:SET", "B", KindCommand, "B tries the lock: A has it"
		asks.Command = fmt.Sprintf("SET k %d", held.At) // the command may contain the time
		add(asks)
		held.At, held.Expires = held.At+sec/50, held.Expires-sec/50
		later.Token, later.Kind, later.Says, later.Expires = "time", KindTime, "20ms later", held.Expires
		add(later)
	}
	add(Step{
		Token: "A:DEL", Actor: "A", Kind: KindCommand, Command: "DEL k", Says: "A gives the lock back", Standing: []Stance{Ended, Outside},
	})
	return t
}

// Waits and polls without news are combined in one row, which says how many steps they are, and how long they take.
func TestFoldCombinesRepeatedPolls(t *testing.T) {
	const want = `     A        B      Redis
  1  ├────────┼───────▶│   SET k A →
     ┃        │        │   A takes the lock
     ┃        │        │   [lock: A, for 10s]
  2  ┃        ├───────▶│   SET k 0 →
     ┃        │        │   B tries the lock: A has it
  ⋮  ┃        │        │   steps 3–81: 800ms later, 39 polls, nothing new
 82  ├────────┼───────▶│   DEL k →
              │        │   A gives the lock back
              │        │   [no lock]
`
	if got := tracePolling(40).Sequence(); got != want {
		t.Errorf("drawn is\n%s\nwant\n%s", got, want)
	}
	const note = "  Note over A,Redis: ⋮ steps 3–81: 800ms later, 39 polls, nothing new\n  A->>Redis: DEL k\n"
	if got := tracePolling(40).Mermaid(); !strings.Contains(got, note) {
		t.Errorf("Mermaid folds nothing:\n%s", got)
	}
	if got := tracePolling(40).EachStep(false); strings.Contains(got, "⋮") || !strings.Contains(got, "\n 81  ") {
		t.Errorf("a step is missing:\n%s", got)
	}
}

// Steps with news are kept: a few polls, a fault, another reply, an expiry that was extended, a step that changes the stance of an actor.
func TestFoldKeepsWhatIsNew(t *testing.T) {
	if got := tracePolling(2).Sequence(); strings.Contains(got, "⋮") {
		t.Errorf("three steps are folded:\n%s", got)
	}
	for name, change := range map[string]func(*Step){
		"a fault":       func(s *Step) { s.Fault = "slow" },
		"other answer":  func(s *Step) { s.Reply = "OK" },
		"other meaning": func(s *Step) { s.Says = "B finds no lock" },
		"a renewal":     func(s *Step) { s.Expires += sec },
		"a stance":      func(s *Step) { s.Standing = []Stance{PausedInside, Outside} },
		"the stock":     func(s *Step) { s.Stock = "99" },
		"another node":  func(s *Step) { s.Nodes = []Node{{Well, "B"}} },
	} {
		trace := tracePolling(40)
		change(&trace.Steps[41])
		if got := trace.Sequence(); !strings.Contains(got, "\n 42  ") {
			t.Errorf("%s: step 42 is folded:\n%s", name, got)
		}
	}
}

// Steps of the other actors are left out, but not the state that they have changed.
func TestFirstKeepsFirstActors(t *testing.T) {
	const want = `     A      Redis
  1  ├───────▶│   SET k A →
     ┃        │   A takes the lock
     ┃        │   [lock: A, for 10s]
  2  ├───────▶│   DEL k →
              │   A gives the lock back
              │   [lock: B]
`
	whole := tracePolling(3)
	whole.Steps[len(whole.Steps)-1].Lock = "B"
	first, left := whole.FirstActors(1)
	steps := slices.DeleteFunc(first.Steps, func(s Step) bool { return s.Kind == KindTime })
	first.Steps = steps
	if got := first.Sequence(); got != want || !slices.Equal(left, []string{"B"}) {
		t.Errorf("drawn without %v is\n%s\nwant\n%s", left, got, want)
	}
	for _, n := range []int{0, 2, 3} {
		if all, left := whole.FirstActors(n); len(all.Steps) != len(whole.Steps) || left != nil {
			t.Errorf("of two, the first %d are drawn without %v, in %d steps", n, left, len(all.Steps))
		}
	}
}
