package evolution_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/redis/go-redis/v9"
)

// faults is a go-redis hook that can fail the commands of a lock before they are sent, or instead of their replies.
type faults struct {
	mu     sync.Mutex
	before func(redis.Cmder) error
	after  func(redis.Cmder) error
	within func(context.Context, redis.Cmder) error // if not nil, called instead of before, with the command's context
	names  []string                                 // names of the commands so far
}

var errFault = errors.New("test: the connection broke")

// set sets the functions called before each command and after it. Their errors replace the reply; nil: not called.
func (f *faults) set(before, after func(redis.Cmder) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

// loseReply makes the reply to the next command get lost.
func (f *faults) loseReply() {
	f.set(nil, func(redis.Cmder) error {
		f.set(nil, nil)
		return io.ErrUnexpectedEOF
	})
}

// loseCommand makes the next command get lost, which its sender cannot distinguish from a lost reply.
func (f *faults) loseCommand() {
	f.set(func(redis.Cmder) error {
		f.set(nil, nil)
		return io.ErrUnexpectedEOF
	}, nil)
}

// refuse makes all commands fail without effect.
func (f *faults) refuse() {
	f.set(func(redis.Cmder) error { return &net.OpError{Op: "dial", Err: errFault} }, nil)
}

// mend ends all faults.
func (f *faults) mend() { f.set(nil, nil) }

// seen returns the number of commands so far.
func (f *faults) seen() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.names)
}

func (f *faults) DialHook(next redis.DialHook) redis.DialHook { return next }

func (f *faults) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (f *faults) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if cmd.Name() == "hello" {
			return next(ctx, cmd) // opening a connection is no command of the lock
		}
		f.mu.Lock()
		before, after := f.before, f.after
		f.names = append(f.names, cmd.Name())
		f.mu.Unlock()
		if before == nil {
			before = func(redis.Cmder) error { return nil }
		}
		if f.within != nil {
			before = func(cmd redis.Cmder) error { return f.within(ctx, cmd) }
		}
		if err := before(cmd); err != nil {
			cmd.SetErr(err)
			return err
		}
		err := next(ctx, cmd)
		if after != nil {
			if fault := after(cmd); fault != nil {
				cmd.SetErr(fault)
				return fault
			}
		}
		return err
	}
}
