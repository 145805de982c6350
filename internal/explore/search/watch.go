package search

import (
	"sync/atomic"
	"time"

	"lockstep/internal/explore/execution"
)

// What code does behind the explorer's back it does in most of the schedules. So the first of them are inspected, and few after that.
const (
	inspected = 25
	rarely    = 400
)

// watch looks at the runs of a search from outside, every now and then, for one that waits where nobody sees it.
type watch struct {
	runs []atomic.Pointer[Run] // of each worker
	sees chan error            // the first such wait
	saw  error                 // the same, once it was read
	done chan struct{}
}

func watchOver(workers int) *watch {
	w := &watch{runs: make([]atomic.Pointer[Run], workers), sees: make(chan error, 1), done: make(chan struct{})}
	go w.look()
	return w
}

func (w *watch) end() { close(w.done) }

// follow says which run a worker is at.
func (w *watch) follow(worker int, run Run) { w.runs[worker].Store(&run) }

// busy says where the first run is that comes to no end.
func (w *watch) busy() error {
	stacks := execution.Stacks()
	for i := range w.runs {
		if run := w.runs[i].Load(); run != nil {
			if err := (*run).Busy(stacks); err != nil {
				return err
			}
		}
	}
	return execution.ErrBlind
}

// look takes its time, as it stops all goroutines: the longer a search lasts, the more rarely.
func (w *watch) look() {
	const first, rarest = 5 * time.Millisecond, time.Second
	seen := make([]string, len(w.runs)) // the last time
	for pause := first; ; pause = min(pause+pause/2, rarest) {
		select {
		case <-w.done:
			return
		case <-time.After(pause):
		}
		stacks := execution.Stacks()
		for i := range w.runs {
			run := w.runs[i].Load()
			was := seen[i]
			if seen[i] = ""; run == nil {
				continue
			}
			err := (*run).Blocked(stacks)
			if err == nil {
				continue
			}
			if seen[i] = err.Error(); seen[i] == was {
				w.sees <- err
				return
			}
		}
	}
}
