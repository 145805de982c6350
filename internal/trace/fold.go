package trace

import "slices"

// FirstActors returns a trace of only the first n actors, and the names of the actors left out. If n is 0, it keeps all actors.
func (t Trace) FirstActors(n int) (Trace, []string) {
	if n == 0 || n >= len(t.Actors) {
		return t, nil
	}
	first, omitted := t, t.Actors[n:]
	first.Actors, first.Steps = t.Actors[:n], nil
	for _, step := range t.Steps {
		if !slices.Contains(omitted, step.Actor) {
			step.Standing = step.Standing[:n]
			first.Steps = append(first.Steps, step)
		}
	}
	return first, omitted
}

// minFolded is the smallest number of repeating steps that is drawn as one row: three rows are read as fast as their summary.
const minFolded = 4

// countFolded returns the number of steps from i on that are drawn as one row because they change nothing; 0 if there are fewer than
// minFolded.
func (t Trace) countFolded(i int) int {
	n := 0
	for i+n < len(t.Steps) && t.isFoldable(i+n) {
		n++
	}
	if n < minFolded {
		return 0
	}
	return n
}

// isFoldable reports whether step i changes nothing that is drawn: it only lets time pass, or it repeats an earlier step with the same
// outcome, and nothing has changed since that step.
func (t Trace) isFoldable(i int) bool {
	step := t.Steps[i]
	if step.Fault != "" || step.Notable || i == 0 || !step.hasSameStateAs(t.Steps[i-1]) {
		return false
	}
	if step.Kind == KindTime {
		return true
	}
	for j := i - 1; j >= 0; j-- {
		earlier := t.Steps[j]
		if earlier.Token == step.Token && earlier.Kind == step.Kind && earlier.Reply == step.Reply && earlier.Says == step.Says {
			return true
		}
		if j == 0 || !earlier.hasSameStateAs(t.Steps[j-1]) {
			return false
		}
	}
	return false
}

// hasSameStateAs reports whether lock, stock, nodes and actors are the same after s as after an earlier step. The lock may be closer to its
// expiry.
func (s Step) hasSameStateAs(earlier Step) bool {
	return s.Lock == earlier.Lock && s.Stock == earlier.Stock && s.Expires <= earlier.Expires &&
		slices.Equal(s.Standing, earlier.Standing) && slices.Equal(s.Nodes, earlier.Nodes)
}
