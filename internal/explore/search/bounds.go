package search

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
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
	Awake                     int // so many schedules have all vain polls that the scenario allows; 0: 40,000, below zero: none has
}

// bound is what ends a search before everything was seen: the cause by which its context ends.
type bound struct{ language.Text }

// Error implements error.
func (b bound) Error() string { return b.In(language.English) }

// errEnough ends a search that need not go on, or cannot.
var errEnough = errors.New("nothing more is to be looked for")

// Within returns a context that ends after a time, 0: never, by a bound that says how long it was.
func Within(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	if most <= 0 {
		return ctx, func() {}
	}
	says := most.String()
	return context.WithTimeoutCause(ctx, most, bound{language.Both(says, says)})
}

// limit lets ctx and the time end the search, until stop is called.
func (s *search[S]) limit(ctx context.Context) (stop func()) {
	ctx, free := Within(ctx, s.bounds.Time)
	s.ctx, s.halt = context.WithCancelCause(ctx)
	return func() { s.halt(errEnough); free() }
}

// stopped reports whether the search is to end, for whatever reason.
func (s *search[S]) stopped() bool { return s.ctx.Err() != nil }

// bounded reports whether a bound was hit, or the search was interrupted.
func (s *search[S]) bounded() bool { return s.stopped() && !errors.Is(context.Cause(s.ctx), errEnough) }

// takeBound takes that down, if it is so.
func (s *search[S]) takeBound() bool {
	if !s.bounded() {
		return false
	}
	hit := bound{language.Both("interrupted", "被中断")}
	s.result.Interrupted = !errors.As(context.Cause(s.ctx), &hit)
	s.result.Bound = hit.In(s.goal.Language)
	return true
}

// tooDeep returns the bound on steps.
func tooDeep() bound {
	return bound{language.Both(fmt.Sprintf("%d steps", maxDepth), fmt.Sprintf("%d 步", maxDepth))}
}

// check sees whether a bound was hit after so many schedules; it looks at the heap every so often.
func (s *search[S]) check(schedules int64) {
	runtime.Gosched() // lets others in: a shop that sells beside it, and in a browser's worker whoever shares the one thread
	b := s.bounds
	if b.Schedules > 0 && schedules >= int64(b.Schedules) {
		s.halt(bound{language.Both(fmt.Sprintf("%d schedules", b.Schedules), fmt.Sprintf("%d 种时序", b.Schedules))})
	}
	if b.Memory == 0 || schedules%1024 != 0 {
		return
	}
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	if heap[0].Value.Uint64() > b.Memory {
		s.halt(bound{language.Both(fmt.Sprintf("%d MB of memory", b.Memory>>20), fmt.Sprintf("%d MB 内存", b.Memory>>20))})
	}
}
