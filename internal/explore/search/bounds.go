package search

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"time"
)

// Bounds limit a search. If one of them is hit, the verdict is unknown.
type Bounds struct {
	Schedules int           // number of runs; 0: no limit
	Memory    uint64        // heap limit of the whole process, in bytes; 0: no limit
	Time      time.Duration // real time; 0: no limit
	Workers   int           // number of workers; 0: one per core

	StallTimeout time.Duration // real time without a step after which the search fails with ErrNoProgress; 0: 20s

	// For tests of the explorer itself, which explore what a reduction would skip.
	EveryState    bool // go on from a state each time that it is reached, not only the first time
	EverySymmetry bool // no symmetry reduction; for the systems, the search itself does not read it
}

// Limit is a kind of bound.
type Limit uint8

// The limits, and the other reasons why a search ends early.
const (
	NoLimit          Limit = iota // no bound was hit
	LimitInterrupted              // the context of the search has ended
	LimitSteps                    // the schedules have become too long
	LimitSchedules                // Bounds.Schedules
	LimitMemory                   // Bounds.Memory; BoundHit.Value is in bytes
	LimitTime                     // Bounds.Time; BoundHit.Value is in nanoseconds
)

// BoundHit is the bound that ended a search before everything was explored. As an error, it is the cause of the
// cancellation of the search's context.
type BoundHit struct {
	Limit Limit // kind of the bound; NoLimit: none was hit
	Value int64 // value of the bound that was hit
}

// Error implements error.
func (BoundHit) Error() string { return "a bound of the search was hit" }

// errFinished is the cause that ends the context of a search which has found enough, or has failed.
var errFinished = errors.New("the search is done")

// WithTimeLimit is context.WithTimeoutCause with a BoundHit as the cause; most <= 0 sets no timeout.
func WithTimeLimit(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	if most <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, most, BoundHit{LimitTime, int64(most)})
}

// applyTimeLimit sets the search's context, which ends with ctx, after the time limit, or when stop is called.
func (s *search[S]) applyTimeLimit(ctx context.Context) (stop func()) {
	ctx, free := WithTimeLimit(ctx, s.bounds.Time)
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	return func() { s.cancel(errFinished); free() }
}

// isStopped reports whether the search has to end, for whatever reason.
func (s *search[S]) isStopped() bool { return s.ctx.Err() != nil }

// hasHitBound reports whether a bound was hit or the search was interrupted.
func (s *search[S]) hasHitBound() bool {
	return s.isStopped() && !errors.Is(context.Cause(s.ctx), errFinished)
}

// recordBoundHit stores in the result which bound was hit, or that the search was interrupted. It reports whether either is true.
func (s *search[S]) recordBoundHit() bool {
	if !s.hasHitBound() {
		return false
	}
	s.result.BoundHit = BoundHit{Limit: LimitInterrupted}
	s.result.Interrupted = !errors.As(context.Cause(s.ctx), &s.result.BoundHit)
	return true
}

// yieldEvery is the number of schedules after which a worker yields the processor: to a shop in the same process, or, in a browser, to
// everything else on the only thread. Sixteen schedules take a few milliseconds.
const yieldEvery = 16

// readHeapEvery is the number of schedules after which a worker reads the heap size: reading it after each would slow the search.
const readHeapEvery = 1024

// checkBounds stops the search if a bound is hit after this many schedules. It reads the heap size only after every readHeapEvery of them.
func (s *search[S]) checkBounds(schedules int64) {
	if schedules%yieldEvery == 0 {
		runtime.Gosched()
	}
	b := s.bounds
	if b.Schedules > 0 && schedules >= int64(b.Schedules) {
		s.cancel(BoundHit{LimitSchedules, int64(b.Schedules)})
	}
	if b.Memory == 0 || schedules%readHeapEvery != 0 {
		return
	}
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	if heap[0].Value.Uint64() > b.Memory {
		s.cancel(BoundHit{LimitMemory, int64(b.Memory)}) //nolint:gosec // no heap is that large
	}
}
