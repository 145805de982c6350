package locktest

import (
	"context"
	"fmt"
	"reflect"
)

// Adapter implements [Lock] by functions. H is the type of a held lock. For example, this adapts redislock:
//
//	locktest.Adapter[*redislock.Lock]{
//		Acquire: func(ctx context.Context) (*redislock.Lock, error) { return locker.Obtain(ctx, "orders", time.Second, nil) },
//		Release: (*redislock.Lock).Release,
//	}
//
// Acquire and Release are required. The other fields may be nil.
type Adapter[H any] struct {
	Acquire    func(ctx context.Context) (H, error)    // obtains the lock; see Lock.Lock
	TryAcquire func(ctx context.Context) (H, error)    // tries once to obtain the lock, without waiting; if nil, every actor calls Acquire
	Release    func(held H, ctx context.Context) error // releases the lock; see Held.Unlock
	Valid      func(held H) bool                       // the method Valid of Held; if nil, the lock is always valid
	Context    func(held H) context.Context            // the method Context of Held; if nil, there is no such context
	Token      func(held H) int64                      // the method Token of Held; if nil, there are no tokens
}

// Lock calls Acquire; see [Lock].
func (a Adapter[H]) Lock(ctx context.Context) (Held, error) {
	return a.obtain(ctx, "Acquire", a.Acquire)
}

// obtain calls acquire, which is the function in the field called name, and wraps its result in a Held.
func (a Adapter[H]) obtain(ctx context.Context, name string, acquire func(context.Context) (H, error)) (Held, error) {
	switch {
	case acquire == nil:
		return nil, fmt.Errorf("%w: Adapter.%s is nil", errContract, name)
	case a.Release == nil:
		return nil, fmt.Errorf("%w: Adapter.Release is nil", errContract)
	}
	held, err := acquire(ctx)
	if err != nil {
		return nil, err
	}
	h, value := adaptedHeld[H]{a, held}, reflect.ValueOf(held)
	switch {
	case !value.IsValid(), value.Kind() == reflect.Pointer && value.IsNil():
		return nil, fmt.Errorf("%w: Adapter.%s returns neither a lock nor an error", errContract, name)
	case a.Token != nil:
		return fencedHeld[H]{h}, nil
	default:
		return h, nil
	}
}

// tryLock returns a function that calls TryAcquire; nil if TryAcquire is nil.
func (a Adapter[H]) tryLock() func(context.Context) (Held, error) {
	if a.TryAcquire == nil {
		return nil
	}
	return func(ctx context.Context) (Held, error) { return a.obtain(ctx, "TryAcquire", a.TryAcquire) }
}

// tryLockOf returns the TryLock method of a lock, or the tryLock of an Adapter; nil if the lock has neither.
func tryLockOf(l Lock) func(context.Context) (Held, error) {
	switch l := l.(type) {
	case interface {
		tryLock() func(context.Context) (Held, error)
	}:
		return l.tryLock()
	case interface {
		TryLock(ctx context.Context) (Held, error)
	}:
		return l.TryLock
	default:
		return nil
	}
}

// adaptedHeld is the Held that an Adapter returns.
type adaptedHeld[H any] struct {
	adapter Adapter[H] // adapter that obtained the lock
	held    H          // lock in its own type
}

// Unlock calls Release; see Held.
func (h adaptedHeld[H]) Unlock(ctx context.Context) error { return h.adapter.Release(h.held, ctx) }

// Valid reports whether the holder may still believe that it holds the lock.
func (h adaptedHeld[H]) Valid() bool {
	return (h.adapter.Valid == nil || h.adapter.Valid(h.held)) && (h.adapter.Context == nil || h.adapter.Context(h.held).Err() == nil)
}

// fencedHeld is an adaptedHeld with a fencing token.
type fencedHeld[H any] struct{ adaptedHeld[H] }

// Token returns the fencing token.
func (h fencedHeld[H]) Token() int64 { return h.adapter.Token(h.held) }
