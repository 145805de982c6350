package search

import (
	"sync/atomic"
	"time"

	"lockstep/internal/explore/engine"
)

// What code does behind the explorer's back it does in most of the schedules. So the first of them are inspected, and few after that.
const (
	inspected = 25
	rarely    = 400
)

// How long it takes until runs are looked at again, first and at most: to look stops all goroutines.
const first, rarest = 5 * time.Millisecond, time.Second

// watch looks at the runs of a search from outside, every now and then, for one that waits where nobody sees it. The longer a search lasts,
// the more rarely it does so.
type watch struct {
	runs  []atomic.Pointer[Run] // of each worker
	turns []turn                // that it had, the last time
	seen  []string              // how each waited, the last time
	next  *time.Timer
	pause time.Duration
}

func watchOver(workers int) *watch {
	return &watch{
		runs: make([]atomic.Pointer[Run], workers), turns: make([]turn, workers), seen: make([]string, workers),
		next: time.NewTimer(first), pause: first,
	}
}

// follow says which run a worker is at.
func (w *watch) follow(worker int, run Run) { w.runs[worker].Store(&run) }

// turn is one turn of the code in a run, and how often it was seen.
type turn struct {
	run    *Run
	number uint64
	seen   int
}

// endless is how often a turn is seen, with a pause of often between, until it counts as one that has no end: two seconds.
const endless = 10

// checkLoop gives an error for the first run whose code does not give its turn back. The watch itself is slow where the machine is.
func (w *watch) checkLoop() error {
	for i := range w.runs {
		now := turn{run: w.runs[i].Load()}
		if now.run != nil {
			now.number = (*now.run).Turn()
		}
		if was := w.turns[i]; now.number > 0 && now.run == was.run && now.number == was.number {
			now.seen = was.seen + 1
		}
		w.turns[i] = now
		if now.seen == endless {
			w.turns[i] = turn{}
			if err := (*now.run).Busy(engine.Stacks()); err != nil {
				return err
			}
		}
	}
	return nil
}

// busy says where the first run is that comes to no end.
func (w *watch) busy() error {
	stacks := engine.Stacks()
	for i := range w.runs {
		if run := w.runs[i].Load(); run != nil {
			if err := (*run).Busy(stacks); err != nil {
				return err
			}
		}
	}
	return engine.ErrBlind
}

// look gives an error for the first run that waits as it did the last time.
func (w *watch) look() error {
	w.pause = min(w.pause+w.pause/2, rarest)
	w.next.Reset(w.pause)
	stacks := engine.Stacks()
	for i := range w.runs {
		was := w.seen[i]
		w.seen[i] = ""
		run := w.runs[i].Load()
		if run == nil {
			continue
		}
		if err := (*run).Blocked(stacks); err != nil {
			if w.seen[i] = err.Error(); w.seen[i] == was {
				return err
			}
		}
	}
	return nil
}
