package variants

import (
	"context"
	"time"

	"lockstep/internal/lock"
)

// pollsInTheBackground asks in a goroutine, again and again, and the sale waits for what that obtains.
func pollsInTheBackground(pause time.Duration, attempt func(process, context.Context, string) error) func(process) take {
	return func(p process) take {
		return func(ctx context.Context, owner string) (*lock.Lease, error) {
			var err error
			over := make(chan struct{})
			p.Clock.Go("task", func() {
				defer close(over)
				_, err = lock.PollAt(ctx, p.Options, func() time.Duration { return pause }, func() (struct{}, error) {
					return struct{}{}, attempt(p, ctx, owner)
				})
			})
			_ = p.Clock.Wait(context.WithoutCancel(ctx), over)
			if err != nil {
				return nil, err
			}
			return p.lease(ctx, p.release(owner)), nil
		}
	}
}
