package lock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"lockstep/internal/lock"
)

func TestQueueServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := lock.NewQueue(lock.SystemClock{})
		if err := q.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		if q.TryEnter() {
			t.Error("two have the turn")
		}
		var served []int // by the one that has the turn
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				if err := q.Enter(t.Context()); err != nil {
					t.Error(err)
				}
				served = append(served, i)
				if passed := q.Pass(); passed == (i == 9) {
					t.Errorf("waiter %d passed the turn on: %t", i, passed)
				}
			})
			synctest.Wait()
			if n := q.Waiting(); n != i+1 {
				t.Errorf("%d wait; want %d", n, i+1)
			}
		}
		if q.End() {
			t.Error("the turn ended, though somebody waits for it")
		}
		if !q.Pass() {
			t.Error("the turn was not passed on")
		}
		all.Wait()
		if len(served) != 10 || !slices.IsSorted(served) {
			t.Errorf("served: %v", served)
		}
		if q.TryEnter() {
			t.Error("the last waiter has not ended its turn, and another has it")
		}
		if !q.End() || !q.TryEnter() {
			t.Error("the turn ended, and cannot be had")
		}
	})
}

func TestQueueLeavers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := lock.NewQueue(lock.SystemClock{})
		if !q.TryEnter() {
			t.Fatal("the turn of an empty queue cannot be had")
		}
		why := errors.New("no patience")
		leaving, leave := context.WithCancelCause(t.Context())
		left, stayed := make(chan error, 1), make(chan error, 1)
		go func() { left <- q.Enter(leaving) }()
		synctest.Wait()
		go func() { stayed <- q.Enter(t.Context()) }()
		synctest.Wait()
		leave(why)
		if err := <-left; !errors.Is(err, why) || q.Waiting() != 1 {
			t.Errorf("Enter: %v, and %d wait; want the cause, and one", err, q.Waiting())
		}
		if err := q.Enter(leaving); !errors.Is(err, why) {
			t.Errorf("Enter with a context that has ended: %v", err)
		}
		if q.Pass(); <-stayed != nil {
			t.Error("the next one was not called")
		}
	})
}

// stubborn is a clock on which a wait fails, though what it waits for has come by then: as select may choose.
type stubborn struct{ lock.SystemClock }

func (stubborn) Wait(ctx context.Context, ch <-chan struct{}) error {
	<-ch
	<-ctx.Done()
	return ctx.Err()
}

// A waiter that is called while it leaves has the turn: nobody else was called.
func TestQueueCallsOneThatLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := lock.NewQueue(stubborn{})
		q.TryEnter()
		ctx, cancel := context.WithCancel(t.Context())
		entered := make(chan error, 1)
		go func() { entered <- q.Enter(ctx) }()
		synctest.Wait()
		q.Pass()
		cancel()
		if err := <-entered; err != nil || q.TryEnter() || !q.End() {
			t.Errorf("Enter of one that was called while it left: %v; want the turn", err)
		}
	})
}

func TestQueueDismisses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, why := lock.NewQueue(lock.SystemClock{}), errors.New("no Redis")
		q.TryEnter()
		errs := make(chan error, 3)
		for range cap(errs) {
			go func() { errs <- q.Enter(t.Context()) }()
		}
		synctest.Wait()
		q.Dismiss(why)
		for range cap(errs) {
			if err := <-errs; !errors.Is(err, why) {
				t.Errorf("Enter: %v", err)
			}
		}
		if q.Waiting() > 0 || q.TryEnter() || q.Pass() || !q.End() {
			t.Error("the turn is not with the one that dismissed the others")
		}
	})
}

// However they come and go, never do two have the turn, and it is free in the end. For -race.
func TestQueueGivesOneTurn(t *testing.T) {
	q := lock.NewQueue(lock.SystemClock{})
	turns, patient := 0, 0 // by the one that has the turn
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 200 {
				ctx, cancel := context.WithCancel(t.Context())
				leaves := i%3 == 0
				if leaves {
					go cancel() // it may leave, or be called, or both at once
				}
				if q.Enter(ctx) == nil {
					turns++
					if !leaves {
						patient++
					}
					for !q.Pass() && !q.End() {
						continue
					}
				}
				cancel()
			}
		})
	}
	all.Wait()
	if patient != 8*133 || turns < patient {
		t.Errorf("%d turns, %d of those that do not leave; want %d of them", turns, patient, 8*133)
	}
	if !q.TryEnter() {
		t.Error("the turn is not free in the end")
	}
}

// Two callers of a process take turns. The one that has the turn passes it on, or ends it when nobody waits.
func ExampleQueue() {
	ctx, queue := context.Background(), lock.NewQueue(lock.SystemClock{})
	if err := queue.Enter(ctx); err != nil { // at once: nobody has the turn
		fmt.Println(err)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := queue.Enter(ctx); err != nil { // waits
			fmt.Println(err)
			return
		}
		fmt.Println("second")
		for !queue.Pass() && !queue.End() {
			continue // somebody came in between
		}
	}()
	fmt.Println("first")
	for !queue.Pass() && !queue.End() {
		continue
	}
	<-done
	// Output:
	// first
	// second
}
