package explore_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/strategy"
	"lockstep/internal/trace"
)

// piped takes the lock by a pipeline of two commands.
func piped(ctx context.Context, client redis.Cmdable, opts lock.Options, owner string) (*lock.Lease, error) {
	_, err := client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.SetNX(ctx, opts.Key, owner, 0)
		return pipe.PExpire(ctx, opts.Key, opts.TTL).Err()
	})
	if err != nil {
		return nil, rediserr.Classify(ctx, "SET NX, PEXPIRE", err)
	}
	return lock.NewLease(ctx, opts.Clock, 0, func(ctx context.Context) error { return client.Del(ctx, opts.Key).Err() }), nil
}

// Each command of a pipeline is a step. What becomes of the rest does not depend on its sender, but on the connection.
func TestAPipelineIsNotAtomic(t *testing.T) {
	onNodes := strategy.Strategy{Name: "on nodes", OnNodes: true, New: func(p strategy.Parts) lock.Locker {
		return funcLocker(func(ctx context.Context, owner string) (*lock.Lease, error) {
			return piped(ctx, p.Nodes[0], p.Options, owner)
		})
	}}
	const none, forEver, expires = "no lock", "a lock for ever", "a lock that expires"
	for _, test := range []struct {
		lock               strategy.Strategy
		schedule, is, says string // what is so after it, and what its last step says
	}{
		{locker(piped), "A:SET", forEver, "A takes the lock; PEXPIRE is still in flight"},
		{locker(piped), "A:SET A:PEXPIRE", expires, "A renews its lock"},
		{locker(piped), "A:SET/dies-after", forEver, "and dies; PEXPIRE never arrives"},
		{locker(piped), "A:SET A:dies/dies-before", forEver, "A dies"},
		{locker(piped), "A:SET A:dies/dies-before A:PEXPIRE/arrives", expires, "was delayed"},
		{locker(piped), "A:SET A:dies/dies-before A:PEXPIRE/never-arrives", forEver, "never arrives"},
		{locker(piped), "A:SET/lost", forEver, "the outcome is unknown"},
		{locker(piped), "A:SET/lost A:PEXPIRE/arrives", expires, "was delayed"},
		{locker(piped), "A:SET/lost A:PEXPIRE/never-arrives", forEver, "never arrives"},
		{locker(piped), "A:SET A:PEXPIRE/lost", expires, "the outcome is unknown"},
		{locker(piped), "A:SET A:PEXPIRE/lost-request", forEver, "the outcome is unknown"},
		{locker(piped), "A:SET/lost-request", none, "the outcome is unknown"},
		{locker(piped), "A:SET/late A:SET/arrives A:PEXPIRE/arrives", expires, "was delayed"},
		{locker(piped), "A:SET A:PEXPIRE/late A:PEXPIRE/arrives", expires, "was delayed"},
		{locker(piped), "A:SET/resent A:SET A:PEXPIRE/arrives A:PEXPIRE A:GET", expires, "reads stock"},
		{locker(piped), "A:SET A:pauses A:PEXPIRE A:resumes A:GET", expires, "reads stock"},
		{locker(piped), "A:SET/pauses-after A:PEXPIRE A:resumes A:GET", expires, "reads stock"},
		{locker(piped), "A:SET A:PEXPIRE/pauses-after A:resumes A:GET", expires, "reads stock"},
		{locker(piped), "A:SET/unsynced failover", none, "the outcome is unknown"},
		{locker(piped), "A:SET/unsaved rollback", none, "the outcome is unknown"},
		{onNodes, "A:SET A:PEXPIRE/node-crashes", forEver, "node 1 goes down; A's connection breaks; A fails"},
		{onNodes, "A:SET A:PEXPIRE/node-restarts", none, "node 1 restarts empty; A's connection breaks; A fails"},
		{onNodes, "A:SET A:PEXPIRE/node-hangs", expires, "node 1 stops answering"},
	} {
		may := "crash=1,lost-reply=1,lost-request=1,late=1,resend=1,pause=1,failover=1,rollback=1"
		if test.lock.OnNodes {
			may = "node-crash=1,node-restart=1,node-hang=1"
		}
		in := faultsOfTwo(may)
		in.Actors = 1
		replayed, err := explore.Replay(test.lock, in, test.schedule)
		if err != nil {
			t.Errorf("%s: %v", test.schedule, err)
			continue
		}
		last, is := replayed.Steps[len(replayed.Steps)-1], none
		switch {
		case last.Lock != "" && last.Expires > 0:
			is = expires
		case last.Lock != "":
			is = forEver
		}
		if is != test.is || !strings.Contains(last.Says, test.says) {
			t.Errorf("%s: %s, %q; want %s, %q", test.schedule, is, last.Says, test.is, test.says)
		}
	}
	replayed, err := explore.Replay(locker(piped), faultsOfTwo("pause=1"), "A:SET A:pauses A:PEXPIRE")
	if err != nil || replayed.Steps[2].Standing[0] != trace.Paused {
		t.Errorf("%v, %+v; want that the replies are not read yet", err, replayed.Steps)
	}
	if _, err := explore.Replay(locker(piped), faultsOfTwo(""), "A:SET A:GET"); !errors.Is(err, explore.ErrStale) {
		t.Errorf("%v; want that the pipeline goes on first", err)
	}
}
