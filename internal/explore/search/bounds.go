package search

import (
	"context"
	"fmt"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"lockstep/internal/language"
)

// Bounds limit a search. One that was hit makes the verdict unknown.
type Bounds struct {
	Schedules int           // 0: no limit
	Memory    uint64        // bytes of heap, of the whole process; 0: no limit
	Time      time.Duration // 0: no limit
	Workers   int           // 0: as many as there are cores

	Patience time.Duration // real time without a step, after which it counts as blind; 0: 20s

	// For tests of the explorer itself: to explore again what a cut says is known already.
	EveryState, EverySymmetry bool
}

// limits end a search that hits a bound.
type limits struct {
	bounds Bounds
	ended  atomic.Bool
	bound  atomic.Pointer[language.Text] // the one that was hit first
	halted chan struct{}                 // closed then
}

func newLimits(b Bounds) *limits { return &limits{bounds: b, halted: make(chan struct{})} }

// start lets ctx and the time end the search, until stop is called.
func (l *limits) start(ctx context.Context) (stop func()) {
	forget := context.AfterFunc(ctx, func() { l.halt(interruption()) })
	timer := &time.Timer{}
	if l.bounds.Time > 0 {
		timer = time.AfterFunc(l.bounds.Time, func() { l.halt(language.Both(l.bounds.Time.String(), l.bounds.Time.String())) })
	}
	return func() {
		forget()
		if l.bounds.Time > 0 {
			timer.Stop()
		}
	}
}

// halt ends the search for the sake of a bound.
func (l *limits) halt(bound language.Text) {
	if l.bound.CompareAndSwap(nil, &bound) {
		close(l.halted)
	}
	l.stop()
}

// stop ends the search.
func (l *limits) stop() { l.ended.Store(true) }

// stopped reports whether the search is to end, for whatever reason.
func (l *limits) stopped() bool { return l.ended.Load() }

// hit reports whether a bound was.
func (l *limits) hit() bool { return l.bound.Load() != nil }

// name returns the bound that was hit.
func (l *limits) name() language.Text { return *l.bound.Load() }

// interruption returns what ends a search that is no bound.
func interruption() language.Text { return language.Both("interrupted", "被中断") }

// interrupted reports whether that came before any bound.
func (l *limits) interrupted() bool { return l.hit() && l.name() == interruption() }

// tooDeep returns the bound on steps.
func tooDeep() language.Text {
	return language.Both(fmt.Sprintf("%d steps", maxDepth), fmt.Sprintf("%d 步", maxDepth))
}

// look sees whether a bound was hit after so many schedules; at the heap every so often.
func (l *limits) look(schedules int64) {
	if l.bounds.Schedules > 0 && schedules >= int64(l.bounds.Schedules) {
		l.halt(language.Both(fmt.Sprintf("%d schedules", l.bounds.Schedules), fmt.Sprintf("%d 种时序", l.bounds.Schedules)))
	}
	if l.bounds.Memory == 0 || schedules%1024 != 0 {
		return
	}
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	if heap[0].Value.Uint64() > l.bounds.Memory {
		l.halt(language.Both(fmt.Sprintf("%d MB of memory", l.bounds.Memory>>20), fmt.Sprintf("%d MB 内存", l.bounds.Memory>>20)))
	}
}
