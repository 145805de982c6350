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
		idle := 0
		q := lock.NewQueue(options, func(context.Context) { idle++ })
		enter := func(owner string) {
			if err := q.Enter(t.Context(), owner); err != nil {
				t.Error(err)
			}
		}
		enter("first")
		enter("first") // a nested call does not wait
		if err := q.TryEnter(t.Context(), "other"); !errors.Is(err, lock.ErrNotObtained) {
			t.Errorf("TryEnter while another has the turn: %v", err)
		}
		var served []int // only the owner that has the turn adds to it
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				enter(fmt.Sprint(i))
				served = append(served, i)
				q.Leave(t.Context(), nil)
			})
			synctest.Wait()
			if n := q.Waiting(); n != i+1 {
				t.Errorf("%d wait; want %d", n, i+1)
			}
		}
		q.Leave(t.Context(), nil) // the nested call
		if synctest.Wait(); len(served) > 0 {
			t.Error("the turn ended with a nested call")
		}
		q.Leave(t.Context(), nil)
		all.Wait()
		if len(served) != 10 || !slices.IsSorted(served) || idle != 1 {
			t.Errorf("served: %v; idle %d times, want once", served, idle)
		}
		if err := q.TryEnter(t.Context(), "other"); err != nil {
			t.Errorf("TryEnter in the end: %v", err)
		}
	})
}

func TestQueueSkipsCancelledWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := lock.NewQueue(options, nil)
		if err := q.TryEnter(t.Context(), "first"); err != nil {
			t.Fatal(err)
		}
		leaving, leave := context.WithCancel(t.Context())
		left, stayed := make(chan error, 1), make(chan error, 1)
		go func() { left <- q.Enter(leaving, "leaving") }()
		synctest.Wait()
		go func() { stayed <- q.Enter(t.Context(), "staying") }()
		synctest.Wait()
		leave()
		if err := <-left; !errors.Is(err, lock.ErrCancelled) || q.Waiting() != 1 {
			t.Errorf("Enter: %v, and %d wait; want ErrCancelled, and one", err, q.Waiting())
		}
		if err := q.Enter(leaving, "leaving"); !errors.Is(err, lock.ErrCancelled) {
			t.Errorf("Enter with a context that has ended: %v", err)
		}
		if q.Leave(t.Context(), nil); <-stayed != nil {
			t.Error("the next one was not called")
		}
	})
}

// The owners that wait when Redis fails get the error; one that comes later tries itself.
func TestQueuePassesRedisFailureToWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := lock.NewQueue(options, nil)
		if err := q.TryEnter(t.Context(), "first"); err != nil {
			t.Fatal(err)
		}
		errs := make(chan error, 3)
		for i := range cap(errs) {
			go func() { errs <- q.Enter(t.Context(), fmt.Sprint(i)) }()
		}
		synctest.Wait()
		q.Leave(t.Context(), lock.ErrUnavailable)
		for range cap(errs) {
			if err := <-errs; !errors.Is(err, lock.ErrUnavailable) {
				t.Errorf("Enter: %v", err)
			}
		}
		if err := q.Enter(t.Context(), "later"); err != nil {
			t.Errorf("Enter after the failure: %v", err)
		}
	})
}

// For every order of arrivals and cancellations, two owners never have the turn at once, and it is free in the end. The race detector
// checks the first.
func TestQueueGivesOneTurnAtATime(t *testing.T) {
	idle := false
	q := lock.NewQueue(options, func(context.Context) { idle = true })
	turns, patient := 0, 0 // only the owner that has the turn changes them
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 200 {
				ctx, cancel := context.WithCancel(t.Context())
				leaves := n%3 == 0
				if leaves {
					go cancel() // may happen before, after, or while it gets the turn
				}
				if q.Enter(ctx, fmt.Sprint(i)) == nil {
					turns++
					idle = false
					if !leaves {
						patient++
					}
					q.Leave(ctx, nil)
				}
				cancel()
			}
		})
	}
	all.Wait()
	if patient != 8*133 || turns < patient {
		t.Errorf("%d turns, %d of those that do not leave; want %d of them", turns, patient, 8*133)
	}
	if !idle || q.TryEnter(t.Context(), "last") != nil {
		t.Error("the turn is not free in the end, or nobody was told")
	}
}

// Two owners of a process take turns.
func ExampleQueue() {
	ctx, queue := context.Background(), lock.NewQueue(exampleOptions, nil)
	if err := queue.Enter(ctx, "first"); err != nil { // at once: nobody has the turn
		fmt.Println(err)
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := queue.Enter(ctx, "second"); err != nil { // waits
			fmt.Println(err)
			return
		}
		fmt.Println("second")
		queue.Leave(ctx, nil)
	}()
	fmt.Println("first")
	queue.Leave(ctx, nil)
	<-done
	// Output:
	// first
	// second
}
