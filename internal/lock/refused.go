package lock

import "context"

// refusals has the function that a context tells of refusals, as context.WithValue wants it.
type refusals struct{}

// WithRefused returns a context under which a Lock that waits calls f whenever the lock is held by another process.
func WithRefused(ctx context.Context, f func()) context.Context {
	return context.WithValue(ctx, refusals{}, f)
}

// notifyRefused tells that the lock is held by another process.
func notifyRefused(ctx context.Context) {
	if f, is := ctx.Value(refusals{}).(func()); is {
		f()
	}
}
