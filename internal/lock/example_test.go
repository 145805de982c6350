package lock_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/lock"
)

// anyLock returns a lock as callers get it: here one that is shared by the goroutines of this process.
func anyLock() lock.Locker { return newToy(make(shelf, 1)) }

var exampleOptions = lock.Options{
	Key: lock.Key, TTL: 10 * time.Second, RetryInterval: time.Millisecond, WaitTimeout: 20 * time.Millisecond, Clock: lock.SystemClock{},
}

// A sale takes the lock, works under the lease's context, and gives the lock back whatever happens.
func ExampleLocker() {
	ctx, locker := context.Background(), anyLock()
	sell := func(ctx context.Context, owner string) error {
		lease, err := locker.Lock(ctx, owner)
		if err != nil {
			return fmt.Errorf("not sold: %w", err)
		}
		defer func() { _ = lease.Unlock(ctx) }() // even if ctx has ended
		if err := lease.Context().Err(); err != nil {
			return fmt.Errorf("the lock was lost: %w", err)
		}
		fmt.Println("sold, with token", lease.Token())
		return nil
	}
	fmt.Println(sell(ctx, lock.Owner("buyer 1")))

	held, _ := locker.TryLock(ctx, lock.Owner("buyer 2"))
	_, err := locker.TryLock(ctx, lock.Owner("buyer 3"))
	fmt.Println(errors.Is(err, lock.ErrNotObtained), err)
	err = sell(ctx, lock.Owner("buyer 3"))
	fmt.Println(errors.Is(err, lock.ErrTimeout))
	fmt.Println(held.Unlock(ctx), held.Unlock(ctx))
	// Output:
	// sold, with token 1
	// <nil>
	// true the lock is held by another
	// true
	// <nil> the lock is not ours
}

// A renewed lock cancels the context of the work when it is lost.
func ExampleRenewal() {
	opts := exampleOptions
	opts.TTL = 30 * time.Millisecond
	renewal := lock.StartRenewal(opts, opts.Clock.Now(), func(context.Context) error {
		return lock.ErrNotOwner // the lock has expired, and another owner has it
	})
	defer renewal.Stop()
	work, done := renewal.Guard(context.Background())
	defer done()
	<-work.Done()
	fmt.Println(context.Cause(work), renewal.IsLost())
	// Output: the lock was lost true
}

// shelf is a lock of the processes that share its memory: whoever received the token from the channel holds it.
type shelf chan int64

// toy is the lock as one process sees it.
type toy struct {
	line  *lock.Cohort
	shelf shelf
	waits announcedClock
}

// announcedClock is a clock that sends a message when a goroutine begins to wait on it.
type announcedClock chan struct{}

func (announcedClock) Now() time.Time { return time.Now() }
func (announcedClock) AfterFunc(d time.Duration, f func()) lock.Timer {
	return lock.SystemClock{}.AfterFunc(d, f)
}
func (announcedClock) Go(_ string, f func()) { go f() }
func (a announcedClock) Wait(ctx context.Context, ch <-chan struct{}) error {
	a <- struct{}{}
	return lock.SystemClock{}.Wait(ctx, ch)
}

func newToy(s shelf) *toy {
	t := &toy{shelf: s, waits: make(announcedClock, 100)}
	opts := exampleOptions
	opts.Clock = t.waits
	t.line = lock.NewCohort(opts, func(context.Context) {})
	if len(s) == 0 {
		s <- 1 // first token
	}
	return t
}

func (t *toy) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	wait, stop := lock.WithTimeout(ctx, t.waits, exampleOptions.WaitTimeout, lock.ErrTimeout)
	defer stop()
	if err := t.line.Enter(wait, owner); err != nil {
		return nil, err
	}
	return t.line.Take(ctx, func() (*lock.Holding, error) {
		return lock.Poll(wait, exampleOptions, func() (*lock.Holding, error) { return t.ask() })
	})
}

func (t *toy) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	if err := t.line.TryEnter(ctx, owner); err != nil {
		return nil, err
	}
	return t.line.Take(ctx, t.ask)
}

func (t *toy) ask() (*lock.Holding, error) {
	select {
	case next := <-t.shelf:
		const handOffs = 2
		opts := exampleOptions
		opts.Clock = t.waits
		renewal := lock.StartRenewal(opts, time.Now(), func(context.Context) error { return nil })
		return &lock.Holding{Renewal: renewal, Token: next, HandOffs: handOffs, Release: func(context.Context) error {
			renewal.Stop()
			t.shelf <- next + handOffs + 1
			return nil
		}}, nil
	default:
		return nil, lock.ErrNotObtained
	}
}

// The sales of one process hand the lock on. The process competes with others once for all of them.
func ExampleCohort() {
	ctx, shelf := context.Background(), make(shelf, 1)
	here, there := newToy(shelf), newToy(shelf)

	first, _ := here.Lock(ctx, "first")
	<-here.waits // its renewal waits for its time
	nested, _ := here.Lock(ctx, "first")
	fmt.Println("first has token", first.Token(), "and its nested call", nested.Token())
	_, err := there.TryLock(ctx, "other")
	fmt.Println("there:", err)

	second := make(chan *lock.Lease)
	go func() {
		lease, err := here.Lock(ctx, "second") // waits in line
		if err != nil {
			fmt.Println(err)
		}
		second <- lease
	}()
	_ = nested.Unlock(ctx)
	<-here.waits          // second waits in line
	_ = first.Unlock(ctx) // hands the lock on
	lease := <-second
	fmt.Println("second has token", lease.Token())
	_ = lease.Unlock(ctx)

	other, _ := there.TryLock(ctx, "other")
	fmt.Println("other has token", other.Token())
	_ = other.Unlock(ctx)
	// Output:
	// first has token 1 and its nested call 1
	// there: the lock is held by another
	// second has token 2
	// other has token 4
}
