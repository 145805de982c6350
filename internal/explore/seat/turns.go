package seat

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// turns lets one explore at a time. The explorer looks at all goroutines of the process, so two would be in each other's way.
type turns struct {
	line   chan struct{} // as many as may be here: the one that explores, and those that wait
	inside chan struct{} // the one that explores
}

func newTurns(line int) *turns {
	return &turns{line: make(chan struct{}, line+1), inside: make(chan struct{}, 1)}
}

// join takes a place in the line, or fails with ErrBusy. Whoever got one leaves in the end.
func (t *turns) join() (leave func(), err error) {
	select {
	case t.line <- struct{}{}:
		return func() { <-t.line }, nil
	default:
		return nil, ErrBusy
	}
}

// begin waits for the turn, and tells waiting every second that it does. It fails with ErrLeft when ctx ends.
func (t *turns) begin(ctx context.Context, waiting func()) (end func(), err error) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case t.inside <- struct{}{}:
			return func() { <-t.inside }, nil
		default:
			waiting()
		}
		select {
		case t.inside <- struct{}{}:
			return func() { <-t.inside }, nil
		case <-second.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ErrLeft, ctx.Err())
		}
	}
}

// once does something in a turn of its own, unless it was done before, or by whoever had the turn meanwhile.
func (t *turns) once(ctx context.Context, done func() bool, waiting, do func()) error {
	if done() {
		return nil
	}
	end, err := t.begin(ctx, waiting)
	if err != nil {
		return err
	}
	defer end()
	if !done() {
		do()
	}
	return nil
}

// alone does something in a turn of its own, if that comes within a time.
func (t *turns) alone(ctx context.Context, within time.Duration, do func() error) error {
	leave, err := t.join()
	if err != nil {
		return err
	}
	defer leave()
	soon, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	end, err := t.begin(soon, func() {})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: no turn came in %v", ErrBusy, within)
	}
	if err != nil {
		return err
	}
	defer end()
	return do()
}
