package lab

import (
	"context"
	"sync"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/lock"
)

var errEnding = lock.WithCode("ending", "the server is ending")

// Runner lists the labs for a page, and runs one at a time. A run ends when its request ends, or when the runner is closed.
type Runner struct {
	Environment Environment // where labs run; without Replicas, none do
	Rights      string      // who may run labs, as in ListEntry.Runs
	Tab         func() bool // reports whether this server has the page in a tab; nil: it has not
	// Run runs a lab; nil: in Environment.
	Run func(ctx context.Context, l Lab, p Play) (Result, error)

	mu     sync.Mutex
	now    *run // run in progress; nil: none
	closed bool
}

// run is a run of a lab in progress.
type run struct {
	lab   string
	from  string // address of the client that started it
	began time.Time
	ctx   context.Context //nolint:containedctx // it ends before the run does
	end   context.CancelCauseFunc
	ended chan struct{}
}

// enter begins a run. It waits for another run that is about to end, and refuses while one goes on.
func (r *Runner) enter(ctx context.Context, lab, from string, in language.Language) (_ context.Context, leave func(), err error) {
	for {
		other, begun := r.begin(ctx, lab, from)
		switch {
		case begun != nil:
			return begun.ctx, func() { r.leave(begun) }, nil
		case other == nil:
			return nil, nil, errEnding
		case !other.waitForLeaving(ctx):
			return nil, nil, other.refusal(in)
		}
		if err := await(ctx, other.ended); err != nil {
			return nil, nil, err
		}
	}
}

// leavingTime is how long enter waits for another run before it refuses: a reader who goes from one lab to the next leaves the first one at
// that moment, and the server may learn of that after the request for the next one.
const leavingTime = time.Second

// waitForLeaving waits until the context of a run has ended, at most for leavingTime, and reports whether it has.
func (r *run) waitForLeaving(ctx context.Context) bool {
	ctx, stop := context.WithTimeout(ctx, leavingTime)
	defer stop()
	return await(ctx, r.ctx.Done()) == nil
}

// refusal returns the error for a second run.
func (r *run) refusal(in language.Language) error {
	return lock.WithCode("lab_running", in.Say(
		"one lab runs at a time, and %s is running, started %.0f s ago from %s: stop that one, or wait",
		"同时只能运行一个实验：%s 正在运行（%.0f 秒前由 %s 启动）；请停止它，或等它结束。", r.lab, time.Since(r.began).Seconds(), r.from))
}

// begin begins a run, or returns the run in progress. Both results are nil if the runner is closed.
func (r *Runner) begin(ctx context.Context, lab, from string) (other, begun *run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.now != nil {
		return r.now, nil
	}
	r.now = &run{lab: lab, from: from, began: time.Now(), ended: make(chan struct{})}
	r.now.ctx, r.now.end = context.WithCancelCause(ctx)
	return nil, r.now
}

func (r *Runner) leave(ended *run) {
	ended.end(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = nil
	close(ended.ended)
}

// Close ends the run in progress. Later runs are refused.
func (r *Runner) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.now != nil {
		r.now.end(errEnding)
	}
}

func (r *Runner) isInTab() bool { return r.Tab != nil && r.Tab() }
