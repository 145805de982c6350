package trace

import "slices"

// First returns the trace of what the first so many actors did, and the actors that are left out. Zero leaves out nobody.
func (t Trace) First(n int) (Trace, []string) {
	if n == 0 || n >= len(t.Actors) {
		return t, nil
	}
	drawn, left := t, t.Actors[n:]
	drawn.Actors, drawn.Steps = t.Actors[:n], nil
	for _, step := range t.Steps {
		if !slices.Contains(left, step.Actor) {
			step.Standing = step.Standing[:n]
			drawn.Steps = append(drawn.Steps, step)
		}
	}
	return drawn, left
}

// few steps are drawn one by one, although they bring nothing new.
const few = 4

// fold returns the steps from i on that are drawn as one, since they bring nothing new: so many, or none.
func (t Trace) fold(i int) int {
	n := 0
	for i+n < len(t.Steps) && t.repeats(i+n) {
		n++
	}
	if n < few {
		return 0
	}
	return n
}

// repeats reports whether a step only lets time pass, or does again what was done since anything changed, with the same outcome.
func (t Trace) repeats(i int) bool {
	step := t.Steps[i]
	if step.Fault != "" || step.Notable || i == 0 || !step.same(t.Steps[i-1]) {
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
		if j == 0 || !earlier.same(t.Steps[j-1]) {
			return false
		}
	}
	return false
}

// same reports whether nothing has changed for anybody since an earlier step: an expiry may only have come nearer.
func (s Step) same(earlier Step) bool {
	return s.Lock == earlier.Lock && s.Stock == earlier.Stock && s.Expires <= earlier.Expires &&
		slices.Equal(s.Standing, earlier.Standing) && slices.Equal(s.Nodes, earlier.Nodes)
}
