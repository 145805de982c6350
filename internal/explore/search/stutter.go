package search

import (
	"slices"
	"sync"

	"lockstep/internal/explore/engine"
	"lockstep/internal/lock/anomaly"
)

// How many runs there may be to know that rounds in vain make no difference: so many, and so many for each schedule.
const cheap, tooMany = 2_000, 2

// stuttering knows of which steps it makes no difference how often their process has asked in vain before.
type stuttering struct {
	mu   sync.Mutex
	seen map[engine.Fingerprint]bool // by the views of steps
	runs int                         // that it took to know
}

// asking is what a step is to lead to, however often that was.
type asking struct {
	left      int   // rounds in vain that may come before it
	processes []int // whose
	view      engine.Fingerprint
	local     bool
	beside    []engine.Fingerprint // of each
	found     []anomaly.Found
	sight     Sight
}

// look sees whose rounds may matter for a step.
func (d *stuttering) look(run Run, t engine.Transition, goal Goal, step sighted) (a asking) {
	if a.left = goal.Stuttering; a.left == 0 {
		return a
	}
	if a.view, a.local = step.view, step.local; a.local {
		a.processes = []int{run.Whose(t)}
		return a
	}
	for process := range goal.Processes {
		a.processes = append(a.processes, process)
	}
	return a
}

// after takes down what the step has led to.
func (a *asking) after(run Run, found []anomaly.Found) {
	if a.found, a.sight = found, sightBeside(run); a.left == 0 {
		return
	}
	a.processes = slices.DeleteFunc(a.processes, func(p int) bool { return !run.HasStuttered(p) })
	for _, p := range a.processes {
		a.beside = append(a.beside, run.Beside(p))
	}
}

// sightBeside is what there is to see, whatever anybody might ask in vain.
func sightBeside(run Run) Sight {
	sight := run.Sight()
	sight.Beyond = false
	return sight
}

// check runs a path with rounds in vain in it: of each process, as many as there may be, in every way. Its last step has to lead to the
// same.
func (d *stuttering) check(system System, path []engine.Transition, root int32, a asking) error {
	if len(a.processes) == 0 || a.local && d.hasSeen(a.view) {
		return nil
	}
	runs := 0
	for i := range a.processes {
		for again := []int{}; ; {
			runs++
			stutters, err := a.follow(system, path, root, i, again)
			if err != nil {
				return err
			}
			for len(again) < stutters {
				again = append(again, 0)
			}
			if !advance(again, a.left) {
				break
			}
		}
	}
	d.learn(a, runs)
	return nil
}

func (d *stuttering) learn(a asking, runs int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if a.local {
		if d.seen[a.view] { // another worker was as fast
			return
		}
		d.seen[a.view] = true
	}
	d.runs += runs
}

// isCostly reports whether it takes so many runs to know that a step for each round in vain would take fewer.
func (d *stuttering) isCostly(schedules int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(d.runs) > cheap+tooMany*schedules
}

func (d *stuttering) hasSeen(view engine.Fingerprint) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen[view]
}

// advance counts on: to the next numbers with a sum that is not above most. It reports false after the last.
func advance(numbers []int, most int) bool {
	sum := 0
	for _, n := range numbers {
		sum += n
	}
	for i := range numbers {
		if sum < most {
			numbers[i]++
			return true
		}
		sum -= numbers[i]
		numbers[i] = 0
	}
	return false
}

// follow runs a path, in which the i-th process asks in vain so often in its first stutter, its second, and so on, and at the end as often
// as it still may. It gives the number of stutters before the last step.
func (a *asking) follow(system System, path []engine.Transition, root int32, i int, again []int) (stutters int, err error) {
	d := stutterer{run: system.Begin(root == backwards), process: a.processes[i], left: a.left}
	defer d.run.Close()
	for n := range path {
		before := d.stutters
		if !d.isIndifferentTo(func(nth int) int {
			if before+nth < len(again) {
				return again[before+nth]
			}
			return 0
		}) {
			return d.stutters, engine.ErrCounts
		}
		if err := follow(d.run, path[n:n+1]); err != nil || d.run.Err() != nil {
			return d.stutters, engine.ErrCounts
		}
	}
	found, _ := d.run.Check()
	before := d.stutters
	same := d.run.Beside(d.process) == a.beside[i] && slices.Equal(found, a.found) && sightBeside(d.run) == a.sight
	if !same || !d.isIndifferentTo(func(int) int { return d.left }) {
		return before, engine.ErrCounts
	}
	return before, nil
}

// stutterer is a run in which a process asks in vain.
type stutterer struct {
	run      Run
	process  int
	left     int              // so often it still may
	last     []engine.Stutter // in which its tasks were
	stutters int              // so many came before
}

// isIndifferentTo lets its tasks ask in vain, in the nth of the stutters that are new, so often. It reports false if that makes a
// difference.
func (d *stutterer) isIndifferentTo(often func(nth int) int) bool {
	nth := 0
	for _, stutter := range d.run.Stutters(d.process) {
		if slices.Contains(d.last, stutter) {
			continue
		}
		for range often(nth) {
			d.left--
			if !d.run.Repeat(stutter.Task) {
				return false
			}
		}
		nth++
	}
	d.last, d.stutters = d.run.Stutters(d.process), d.stutters+nth
	return true
}
