package lab

import (
	"context"
	"sync"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/lock"
)

// errEnding is the error of runs that end, or are refused, because the server ends.
var errEnding = lock.WithCode("ending", "the server is ending")

// Runner lists the labs for a page, and runs one at a time. A run ends when its request ends, or when the runner is closed.
type Runner struct {
	Environment Environment // where labs run; without NewReplicas, no lab runs
	Rights      string      // who may run labs, as in ListEntry.Runs
	Tab         func() bool // reports whether this server has the page that runs labs in a browser's tab; nil: it does not
	// Run runs a lab; nil: Lab.Run in Environment does.
	Run func(ctx context.Context, l Lab, options RunOptions) (Result, error)

	mu      sync.Mutex // guards the fields below
	current *run       // run in progress; nil: none
	closed  bool       // Close was called: no more runs
}

// run is a run of a lab in progress.
type run struct {
	lab    string                  // name of the lab
	client string                  // address of the client that started the run
	began  time.Time               // start of the run
	ctx    context.Context         //nolint:containedctx // it ends before the run does
	cancel context.CancelCauseFunc // cancels ctx
	ended  chan struct{}           // closed when the run has ended
}

// enter begins a run. It waits for another run that is about to end, and fails if the other run continues. The caller must call leave at
// the end of its own run.
func (r *Runner) enter(ctx context.Context, lab, client string, in language.Language) (_ context.Context, leave func(), err error) {
	for {
		other, begun := r.begin(ctx, lab, client)
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

// leavingTime is how long enter waits for another run before it fails. A reader who goes from one lab to the next leaves the first lab at
// that moment, and the server may learn of that only after the request for the next lab.
const leavingTime = time.Second

// waitForLeaving waits until the context of a run has ended, at most for leavingTime, and reports whether the context has ended.
func (r *run) waitForLeaving(ctx context.Context) bool {
	ctx, stop := context.WithTimeout(ctx, leavingTime)
	defer stop()
	return await(ctx, r.ctx.Done()) == nil
}

// refusal returns the error for a request to run a lab while r is in progress.
func (r *run) refusal(in language.Language) error {
	return lock.WithCode("lab_running", in.Say(
		"one lab runs at a time, and %s is running, started %.0f s ago from %s: stop that one, or wait",
		"同时只能运行一个实验：%s 正在运行（%.0f 秒前由 %s 启动）；请停止它，或等它结束。", r.lab, time.Since(r.began).Seconds(), r.client))
}

// begin begins a run, or returns the run in progress. Both results are nil if the runner is closed.
func (r *Runner) begin(ctx context.Context, lab, client string) (other, begun *run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.current != nil {
		return r.current, nil
	}
	r.current = &run{lab: lab, client: client, began: time.Now(), ended: make(chan struct{})}
	r.current.ctx, r.current.cancel = context.WithCancelCause(ctx)
	return nil, r.current
}

// leave records the end of a run.
func (r *Runner) leave(ended *run) {
	ended.cancel(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current = nil
	close(ended.ended)
}

// Close ends the run in progress. Later runs are refused.
func (r *Runner) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	if r.current != nil {
		r.current.cancel(errEnding)
	}
}

// isInTab reports whether this server has the page that runs labs in a browser's tab.
func (r *Runner) isInTab() bool { return r.Tab != nil && r.Tab() }
