package lock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// Global is a lock that processes compete for. A Cohort calls it for one of its sales at a time; only Renew may come meanwhile.
type Global interface {
	// Acquire waits until this process holds the lock. It fails as Locker.Lock does.
	Acquire(ctx context.Context) (Grant, error)
	// TryAcquire makes one attempt. It fails as Locker.TryLock does.
	TryAcquire(ctx context.Context) (Grant, error)
	// Renew sets the expiry again. It fails with ErrNotOwner when the lock is no longer ours.
	Renew(ctx context.Context, held Grant) error
	// Release gives the lock back. With more, other sales of this process wait for it: if no other process does, Release may keep the
	// lock and give a new grant of it. Else it gives the zero Grant. It fails as Lease.Unlock does.
	Release(ctx context.Context, held Grant, more bool) (kept Grant, err error)
	// Idle is called when no sale of this process holds the lock or waits for it.
	Idle(ctx context.Context)
}

// Grant is a global lock obtained.
type Grant struct {
	Attempt   string    // id of the attempt that obtained it, which no other has; "" in the zero Grant
	Token     int64     // the fencing token of the sale that has it; 0 where there is none
	LastToken int64     // the last one reserved for this process
	Sent      time.Time // when the command was sent from which the TTL counts; zero once the lock is known to be lost
}

// WithTokens gives the same grant with n tokens from first on.
func (g Grant) WithTokens(first int64, n int) Grant {
	g.Token, g.LastToken = first, first+int64(n)-1
	return g
}

// Next returns the grant of the sale that follows in the same process. A sale has a token of its own, as a late write of the one before is
// stale, too.
func (g Grant) Next() Grant {
	if g.LastToken > 0 {
		g.Token++
	}
	return g
}

// longestHolding bounds how long a process hands the lock to its own sales while another process may wait.
const longestHolding = time.Second

// Rounds is how often the sales that wait in a process when it obtains a global lock with a fair queue may have it before another process
// that waits. The longest wait is about so many times the mean one; fewer rounds mean more hand-overs, which cost time.
const Rounds = 3

// CohortOptions are what a Cohort is told.
type CohortOptions struct {
	Options

	Process      string              // a name that no other process has
	HandOffLimit int                 // how often a process hands the lock to its own next sale while another process may wait
	Rand         func(n int64) int64 // from 0 to n-1
}

// Cohort is the lock of one process: a local queue in front of a global lock. The sale at the head of the queue competes for the
// global lock, and hands it to the next sale of its process without a command, a bounded number of times (Dice, Marathe, Shavit: Lock
// Cohorting, PPoPP 2012). Nested calls get the lock of their owner.
type Cohort struct {
	opts   CohortOptions
	rounds int
	global Global
	queue  *Queue

	serial   int64 // of this Cohort: its process may have others
	attempts int   // that there were

	mu      sync.Mutex
	holding *holding // nil while the process does not hold the global lock
}

// holding is the time for which the process holds the global lock. It has one renewal, and one owner at a time.
type holding struct {
	grant   Grant
	renewal *Renewal
	since   time.Time
	times   int // it was handed to the next sale
	most    int // times it may be
	owner   string
	depth   int // of nested calls
}

// NewCohort puts a queue before a global lock, whose holder may rely on it for opts.TTL. The sales that wait in a process when it
// obtains the lock have it rounds times at most while another process may wait; 0 is no such bound.
func NewCohort(opts CohortOptions, rounds int, global Global) *Cohort {
	return &Cohort{opts: opts, rounds: rounds, global: global, queue: NewQueue(opts.Clock), serial: opts.Rand(math.MaxInt32)}
}

// Process returns the name by which Redis knows the process.
func (c *Cohort) Process() string { return Owner(c.opts.Process) }

// NewAttempt begins an attempt, now. Its id begins with the process, and no other attempt has it: a late command of another one does not
// concern this one.
func (c *Cohort) NewAttempt() Grant {
	c.attempts++
	return Grant{Attempt: fmt.Sprintf("%s:%x.%d", c.Process(), c.serial, c.attempts), Sent: c.opts.Clock.Now()}
}

// Tokens returns how many fencing tokens a grant should reserve: for the first sale, for each hand-off, and for one hand-off more, when
// Release kept the lock.
func (c *Cohort) Tokens() int { return c.opts.HandOffLimit + 2 }

// Lock waits in the queue, and then, if this process does not hold the global lock, for that; see Locker.
func (c *Cohort) Lock(ctx context.Context, owner string) (*Lease, error) {
	if c.reenter(owner) {
		return c.lease(ctx), nil
	}
	wait, stop := WithTimeout(ctx, c.opts.Clock, c.opts.WaitTimeout, ErrTimeout)
	defer stop()
	if err := c.queue.Enter(wait); err != nil {
		if wait.Err() != nil {
			return nil, WaitError(wait, c.opts.WaitTimeout)
		}
		return nil, err
	}
	return c.take(ctx, owner, func() (Grant, error) {
		grant, err := c.global.Acquire(wait)
		if errors.Is(err, ErrCancelled) {
			err = WaitError(wait, c.opts.WaitTimeout) // a command that was not sent does not say which of the two it was
		}
		return grant, err
	})
}

// TryLock waits for nobody; see Locker.
func (c *Cohort) TryLock(ctx context.Context, owner string) (*Lease, error) {
	if c.reenter(owner) {
		return c.lease(ctx), nil
	}
	if ctx.Err() != nil {
		return nil, WaitError(ctx, c.opts.WaitTimeout)
	}
	if !c.queue.TryEnter() {
		return nil, ErrNotObtained
	}
	return c.take(ctx, owner, func() (Grant, error) { return c.global.TryAcquire(ctx) })
}

// take makes owner, who has the turn, the holder.
func (c *Cohort) take(ctx context.Context, owner string, acquire func() (Grant, error)) (*Lease, error) {
	if !c.handedTo(owner) {
		grant, err := acquire()
		if err != nil {
			c.endTurn(ctx, err)
			return nil, err
		}
		c.begin(owner, grant)
	}
	return c.lease(ctx), nil
}

// reenter counts a nested call of the owner that has the lock.
func (c *Cohort) reenter(owner string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holding == nil || c.holding.depth == 0 || c.holding.owner != owner {
		return false
	}
	c.holding.depth++
	return true
}

// handedTo makes owner the next one of the holding that goes on, if one does.
func (c *Cohort) handedTo(owner string) bool {
	if c.holding != nil && c.holding.renewal.Lost() {
		c.end()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.holding == nil {
		return false
	}
	h := c.holding
	h.grant, h.owner, h.depth = h.grant.Next(), owner, 1
	h.times++
	return true
}

// begin starts the holding of a global lock just obtained.
func (c *Cohort) begin(owner string, grant Grant) {
	h := &holding{grant: grant, since: c.opts.Clock.Now(), most: c.opts.HandOffLimit, owner: owner, depth: 1}
	if c.rounds > 0 {
		h.most = min(h.most, c.rounds*(1+c.queue.Waiting()))
	}
	if grant.LastToken > 0 {
		h.most = min(h.most, int(grant.LastToken-grant.Token)) // a grant that was kept may have few left
	}
	h.renewal = StartRenewal(c.opts.Options, grant.Sent, func(ctx context.Context) error { return c.renew(ctx, h) })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding = h
}

// end ends the holding, and gives its grant.
func (c *Cohort) end() Grant {
	c.mu.Lock()
	h := c.holding
	c.holding = nil
	c.mu.Unlock()
	h.renewal.Stop() // waits, so not under the mutex
	if h.renewal.Lost() {
		h.grant.Sent = time.Time{}
	}
	return h.grant
}

// renew sets the expiry again, which then counts from the moment when that was asked for.
func (c *Cohort) renew(ctx context.Context, h *holding) error {
	sent := c.opts.Clock.Now()
	if err := c.global.Renew(ctx, c.grantOf(h)); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	h.grant.Sent = sent
	return nil
}

func (c *Cohort) grantOf(h *holding) Grant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return h.grant
}

// lease returns one more for the owner that has the turn.
func (c *Cohort) lease(ctx context.Context) *Lease {
	h := c.holding // nobody changes it but the sale that has the turn
	grant := c.grantOf(h)
	ctx, unguard := h.renewal.Guard(ctx)
	left := false
	lease := NewLease(ctx, c.opts.Clock, grant.Token, func(ctx context.Context) error {
		defer unguard()
		if left {
			return c.releaseAgain(ctx, grant)
		}
		outermost, err := c.leave()
		if !outermost {
			return err
		}
		left = true
		return c.unlock(ctx)
	})
	lease.lose = h.renewal.Lose
	return lease
}

// leave counts one lease less, and reports whether it was the outermost. It fails with ErrExpired if the lock was lost.
func (c *Cohort) leave() (outermost bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.holding.depth--
	if c.holding.renewal.Lost() {
		err = ErrExpired
	}
	return c.holding.depth == 0, err
}

// unlock ends the turn of its owner: it hands the global lock to the next sale of this process, or gives it back.
func (c *Cohort) unlock(ctx context.Context) error {
	h := c.holding // nobody changes it but the sale that has the turn
	if !h.renewal.Lost() && c.queue.Waiting() > 0 {
		if !c.mayHandOff(h) {
			kept, err := c.global.Release(ctx, c.grantOf(h), true)
			if kept.Attempt == "" {
				c.end()
				c.endTurn(ctx, nil)
				return err
			}
			c.keep(h, kept)
		}
		if c.queue.Pass() {
			return nil
		}
	}
	_, err := c.global.Release(ctx, c.end(), false)
	c.endTurn(ctx, nil)
	return err
}

// mayHandOff reports whether the next sale of this process may have the lock, although another process may wait.
func (c *Cohort) mayHandOff(h *holding) bool {
	return h.times < h.most && c.opts.Clock.Now().Sub(h.since) < longestHolding
}

// keep begins to count hand-offs anew, for a lock that Release kept.
func (c *Cohort) keep(h *holding, kept Grant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h.grant, h.since, h.times, h.most = kept, c.opts.Clock.Now(), 0, c.opts.HandOffLimit
}

// releaseAgain is for an Unlock that failed because Redis was unavailable. By then the turn is another sale's.
func (c *Cohort) releaseAgain(ctx context.Context, held Grant) error {
	if err := c.queue.Enter(ctx); err != nil {
		return err
	}
	held.Sent = time.Time{} // the outcome of the release is not known
	_, err := c.global.Release(ctx, held, false)
	if c.handedTo("") {
		_ = c.unlock(ctx) // of the holding that the turn came with
	} else {
		c.endTurn(ctx, nil)
	}
	return err
}

// endTurn gives the turn to the next sale, which finds no holding. If Redis failed with err, all waiters are told: it would fail them
// one by one.
func (c *Cohort) endTurn(ctx context.Context, err error) {
	if ctx.Err() == nil && (errors.Is(err, ErrUnavailable) || errors.Is(err, ErrOutcomeUnknown)) {
		c.queue.Dismiss(err)
	}
	for !c.queue.Pass() {
		c.global.Idle(ctx)
		if c.queue.End() {
			return
		}
	}
}
