package search

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"time"
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

// Limit is a kind of bound.
type Limit uint8

// The limits, and what ends a search beside them.
const (
	NoLimit Limit = iota // no bound was hit
	LimitInterrupted
	LimitSteps
	LimitSchedules
	LimitMemory // bytes
	LimitTime   // nanoseconds
)

// Hit is the bound that ended a search before everything was seen: the cause by which its context ends.
type BoundHit struct {
	Limit Limit
	Most  int64
}

// Error implements error.
func (BoundHit) Error() string { return "a bound of the search was hit" }

// errEnough ends a search that need not go on, or cannot.
var errFinished = errors.New("nothing more is to be looked for")

// Within returns a context that ends after a time, 0: never, by a bound that says how long it was.
func WithTimeLimit(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	if most <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, most, BoundHit{LimitTime, int64(most)})
}

// limit lets ctx and the time end the search, until stop is called.
func (s *search[S]) applyTimeLimit(ctx context.Context) (stop func()) {
	ctx, free := WithTimeLimit(ctx, s.bounds.Time)
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	return func() { s.cancel(errFinished); free() }
}

// stopped reports whether the search is to end, for whatever reason.
func (s *search[S]) isStopped() bool { return s.ctx.Err() != nil }

// bounded reports whether a bound was hit, or the search was interrupted.
func (s *search[S]) hasHitBound() bool {
	return s.isStopped() && !errors.Is(context.Cause(s.ctx), errFinished)
}

// takeBound takes down which bound was hit, or that the search was interrupted. It reports false if neither is so.
func (s *search[S]) recordBoundHit() bool {
	if !s.hasHitBound() {
		return false
	}
	s.result.BoundHit = BoundHit{Limit: LimitInterrupted}
	s.result.Interrupted = !errors.As(context.Cause(s.ctx), &s.result.BoundHit)
	return true
}

// yieldEvery is after how many schedules others are let in: a shop that sells beside the search, and in a browser's worker whoever shares
// the one thread. It takes a few milliseconds to get there.
const yieldEvery = 16

// check sees whether a bound was hit after so many schedules; it looks at the heap every so often.
func (s *search[S]) checkBounds(schedules int64) {
	if schedules%yieldEvery == 0 {
		runtime.Gosched()
	}
	b := s.bounds
	if b.Schedules > 0 && schedules >= int64(b.Schedules) {
		s.cancel(BoundHit{LimitSchedules, int64(b.Schedules)})
	}
	if b.Memory == 0 || schedules%1024 != 0 {
		return
	}
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	if heap[0].Value.Uint64() > b.Memory {
		s.cancel(BoundHit{LimitMemory, int64(b.Memory)}) //nolint:gosec // no heap is that large
	}
}
