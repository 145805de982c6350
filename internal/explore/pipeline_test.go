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

// piped obtains the lock by a pipeline of two commands.
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

// Each command of a pipeline is a step of its own. Once sent, the remaining commands depend on the connection, and not on their sender.
func TestPipelineCommandsAreSeparateSteps(t *testing.T) {
	onNodes := strategy.Strategy{Name: "on nodes", OnNodes: true, New: func(p strategy.Parts) lock.Locker {
		return funcLocker(func(ctx context.Context, owner string) (*lock.Lease, error) {
			return piped(ctx, p.Nodes[0], p.Options, owner)
		})
	}}
	const none, permanent, expiring = "no lock", "a lock without an expiry", "a lock with an expiry"
	for _, test := range []struct {
		lock           strategy.Strategy
		schedule, want string // want: the lock after the schedule
		says           string // part of the last step's sentence
	}{
		{lock: locker(piped), schedule: "A:SET", want: permanent, says: "A takes the lock; PEXPIRE is still in flight"},
		{lock: locker(piped), schedule: "A:SET A:PEXPIRE", want: expiring, says: "A renews its lock"},
		{lock: locker(piped), schedule: "A:SET/dies-after", want: permanent, says: "and dies; PEXPIRE never arrives"},
		{lock: locker(piped), schedule: "A:SET A:dies/dies-before", want: permanent, says: "A dies"},
		{lock: locker(piped), schedule: "A:SET A:dies/dies-before A:PEXPIRE/arrives", want: expiring, says: "was delayed"},
		{lock: locker(piped), schedule: "A:SET A:dies/dies-before A:PEXPIRE/never-arrives", want: permanent, says: "never arrives"},
		{lock: locker(piped), schedule: "A:SET/lost", want: permanent, says: "the outcome is unknown"},
		{lock: locker(piped), schedule: "A:SET/lost A:PEXPIRE/arrives", want: expiring, says: "was delayed"},
		{lock: locker(piped), schedule: "A:SET/lost A:PEXPIRE/never-arrives", want: permanent, says: "never arrives"},
		{lock: locker(piped), schedule: "A:SET A:PEXPIRE/lost", want: expiring, says: "the outcome is unknown"},
		{lock: locker(piped), schedule: "A:SET A:PEXPIRE/lost-request", want: permanent, says: "the outcome is unknown"},
		{lock: locker(piped), schedule: "A:SET/lost-request", want: none, says: "the outcome is unknown"},
		{lock: locker(piped), schedule: "A:SET/late A:SET/arrives A:PEXPIRE/arrives", want: expiring, says: "was delayed"},
		{lock: locker(piped), schedule: "A:SET A:PEXPIRE/late A:PEXPIRE/arrives", want: expiring, says: "was delayed"},
		{lock: locker(piped), schedule: "A:SET/resent A:SET A:PEXPIRE/arrives A:PEXPIRE A:GET", want: expiring, says: "reads stock"},
		{lock: locker(piped), schedule: "A:SET A:pauses A:PEXPIRE A:resumes A:GET", want: expiring, says: "reads stock"},
		{lock: locker(piped), schedule: "A:SET/pauses-after A:PEXPIRE A:resumes A:GET", want: expiring, says: "reads stock"},
		{lock: locker(piped), schedule: "A:SET A:PEXPIRE/pauses-after A:resumes A:GET", want: expiring, says: "reads stock"},
		{lock: locker(piped), schedule: "A:SET/unsynced failover", want: none, says: "the outcome is unknown"},
		{lock: locker(piped), schedule: "A:SET/unsaved rollback", want: none, says: "the outcome is unknown"},
		{lock: onNodes, schedule: "A:SET A:PEXPIRE/node-crashes", want: permanent, says: "node 1 goes down; A's connection breaks; A fails"},
		{lock: onNodes, schedule: "A:SET A:PEXPIRE/node-restarts", want: none, says: "node 1 restarts empty; A's connection breaks; A fails"},
		{lock: onNodes, schedule: "A:SET A:PEXPIRE/node-hangs", want: expiring, says: "node 1 stops answering"},
	} {
		t.Run(test.lock.Name+" "+test.schedule, func(t *testing.T) {
			budgets := "crash=1,lost-reply=1,lost-request=1,late=1,resend=1,pause=1,failover=1,rollback=1"
			if test.lock.OnNodes {
				budgets = "node-crash=1,node-restart=1,node-hang=1"
			}
			in := twoActors(budgets)
			in.Actors = 1
			replayed, err := explore.Replay(test.lock, in, test.schedule)
			if err != nil {
				t.Fatal(err)
			}
			last, got := replayed.Steps[len(replayed.Steps)-1], none
			switch {
			case last.Lock != "" && last.Expires > 0:
				got = expiring
			case last.Lock != "":
				got = permanent
			}
			if got != test.want || !strings.Contains(last.Says, test.says) {
				t.Errorf("got %s, %q; want %s, %q", got, last.Says, test.want, test.says)
			}
		})
	}
	replayed, err := explore.Replay(locker(piped), twoActors("pause=1"), "A:SET A:pauses A:PEXPIRE")
	if err != nil || replayed.Steps[2].Standing[0] != trace.Paused {
		t.Errorf("got %v, %+v; want A paused before it has read the replies", err, replayed.Steps)
	}
	if _, err := explore.Replay(locker(piped), twoActors(""), "A:SET A:GET"); !errors.Is(err, explore.ErrStale) {
		t.Errorf("got %v; want ErrStale, since the pipeline continues first", err)
	}
}
