package locktest

import (
	"context"
	"fmt"
	"reflect"
)

// Adapter is a [Lock] made of another lock's own functions. H is what that lock gives its holder, such as *redislock.Lock, whose methods
// fit as they are:
//
//	locktest.Adapter[*redislock.Lock]{
//		Acquire: func(ctx context.Context) (*redislock.Lock, error) { return locker.Obtain(ctx, "orders", time.Second, nil) },
//		Release: (*redislock.Lock).Release,
//	}
//
// Acquire and Release it has to have; the others are nil where the lock knows no such thing.
type Adapter[H any] struct {
	Acquire    func(ctx context.Context) (H, error)    // Lock.Lock
	TryAcquire func(ctx context.Context) (H, error)    // Lock.TryLock
	Release    func(held H, ctx context.Context) error // Held.Unlock
	Valid      func(held H) bool                       // Held.Valid
	Context    func(held H) context.Context            // Held.Context
	Token      func(held H) int64                      // Held.Token
}

// Lock implements [Lock].
func (a Adapter[H]) Lock(ctx context.Context) (Held, error) {
	return a.obtain(ctx, "Acquire", a.Acquire)
}

// obtain calls one of the functions that obtain the lock.
func (a Adapter[H]) obtain(ctx context.Context, name string, acquire func(context.Context) (H, error)) (Held, error) {
	switch {
	case acquire == nil:
		return nil, fmt.Errorf("%w: Adapter.%s is nil", errContract, name)
	case a.Release == nil:
		return nil, fmt.Errorf("%w: Adapter.Release is nil", errContract)
	}
	held, err := acquire(ctx)
	switch h, value := (adapted[H]{a, held}), reflect.ValueOf(held); {
	case err != nil:
		return nil, err
	case !value.IsValid(), value.Kind() == reflect.Pointer && value.IsNil():
		return nil, fmt.Errorf("%w: Adapter.%s gives nothing and no error", errContract, name)
	case a.Token != nil:
		return fenced[H]{h}, nil
	default:
		return h, nil
	}
}

// tryLock returns what tries once, nil if nothing does.
func (a Adapter[H]) tryLock() func(context.Context) (Held, error) {
	if a.TryAcquire == nil {
		return nil
	}
	return func(ctx context.Context) (Held, error) { return a.obtain(ctx, "TryAcquire", a.TryAcquire) }
}

// tryLockOf returns what tries once to get a lock, nil if nothing does.
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

// adapted is a Held of an Adapter.
type adapted[H any] struct {
	adapter Adapter[H]
	held    H
}

// Unlock implements Held.
func (h adapted[H]) Unlock(ctx context.Context) error { return h.adapter.Release(h.held, ctx) }

// Valid reports whether the holder may still believe that it holds the lock.
func (h adapted[H]) Valid() bool {
	return (h.adapter.Valid == nil || h.adapter.Valid(h.held)) && (h.adapter.Context == nil || h.adapter.Context(h.held).Err() == nil)
}

// fenced is an adapted Held that has a fencing token.
type fenced[H any] struct{ adapted[H] }

// Token returns the fencing token.
func (h fenced[H]) Token() int64 { return h.adapter.Token(h.held) }
