package rediserr_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
)

// redisError is an error reply of Redis.
type redisError string

func (r redisError) Error() string { return string(r) }
func (redisError) RedisError()     {}

// A script that Redis refused as a whole had no effect; one that failed while running may have had a part of it.
func TestClassifyDistinguishesRefusedAndFailedScripts(t *testing.T) {
	const from = " script: 2cd743, on @user_script:1."
	for reply, want := range map[string]error{
		"NOPERM this user has no permissions to run the 'eval' command":                                  lock.ErrRefused,
		"OOM command not allowed when used memory > 'maxmemory'." + from:                                 lock.ErrRefused,
		"ERR unknown command 'EVAL'":                                                                     lock.ErrRefused,
		"ERR The user executing the script can't publish to the channel mentioned in the command" + from: lock.ErrScriptFailed,
		"ERR ACL failure in script: No permissions to access a channel" + from:                           lock.ErrScriptFailed,
		"WRONGTYPE Operation against a key holding the wrong kind of value" + from:                       lock.ErrScriptFailed,
		"ERR user_script:3: attempt to compare nil with number" + from:                                   lock.ErrScriptFailed,
	} {
		if got := rediserr.Classify(t.Context(), "EVAL release.lua", redisError(reply)); !errors.Is(got, want) {
			t.Errorf("Classify(EVAL, %s)\nis %v\nwant %v", reply, got, want)
		}
		if got := rediserr.Classify(t.Context(), "HINCRBY", redisError(reply)); !errors.Is(got, lock.ErrRefused) {
			t.Errorf("Classify(HINCRBY, %s)\nis %v\nwant %v", reply, got, lock.ErrRefused)
		}
	}
}

func TestClassifyReturnsClassOfError(t *testing.T) {
	ended, end := context.WithCancelCause(t.Context())
	end(lock.ErrTimeout)
	noFiles := &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	for name, c := range map[string]struct {
		over      bool // the context has ended
		err, want error
	}{
		"refused by Redis":        {false, redisError("OOM command not allowed"), lock.ErrUnavailable},
		"not dialled":             {false, &net.OpError{Op: "dial", Err: io.EOF}, lock.ErrUnavailable},
		"out of files":            {false, noFiles, errors.Join(rediserr.ErrNoFiles, lock.ErrUnavailable)},
		"no connection":           {false, redis.ErrPoolTimeout, lock.ErrUnavailable},
		"too many connections":    {false, redis.ErrPoolExhausted, lock.ErrUnavailable},
		"client closed":           {false, redis.ErrClosed, lock.ErrUnavailable},
		"known not to be sent":    {false, lock.ErrUnavailable, lock.ErrUnavailable},
		"no reply":                {false, io.EOF, lock.ErrOutcomeUnknown},
		"reply too late":          {false, &net.OpError{Op: "read", Err: context.DeadlineExceeded}, lock.ErrOutcomeUnknown},
		"ended before":            {true, context.Canceled, lock.ErrCancelled},
		"ended after it was sent": {true, io.EOF, lock.ErrOutcomeUnknown},
	} {
		ctx := t.Context()
		if c.over {
			ctx = ended
		}
		got := rediserr.Classify(ctx, "SET", c.err)
		for _, class := range []error{lock.ErrCancelled, lock.ErrUnavailable, lock.ErrOutcomeUnknown, rediserr.ErrNoFiles} {
			if errors.Is(got, class) != errors.Is(c.want, class) {
				t.Errorf("%s: %v; want %v alone", name, got, c.want)
			}
		}
		if !errors.Is(got, c.err) && !errors.Is(c.want, lock.ErrCancelled) { // ErrCancelled wraps the context's cause instead
			t.Errorf("%s: %v does not wrap %v", name, got, c.err)
		}
	}
}

// An error reply is recognized by its code, in every form that a script's error has, and never by text that a user can write.
func TestErrorRepliesAreRecognizedByCode(t *testing.T) {
	const right = "this user has no permissions to run the 'get' command"
	for reply, want := range map[string]string{
		"WRONGTYPE Operation against a key":                                                "type",
		"ERR Error running script: @user_script: 3: -WRONGTYPE of a":                       "type", // before Redis 7
		"Error running script: WRONGTYPE Operation":                                        "type", // embedded Redis
		"ERR no WRONGTYPE Operation":                                                       "",
		"NOPERM " + right:                                                                  "denied",
		"NOPERM No permissions to access a key":                                            "denied",
		"EXECABORT Transaction discarded because of: NOPERM " + right:                      "denied",
		"EXECABORT Transaction discarded because of previous errors":                       "",
		"ERR ACL failure in script: No permissions to access a channel script: 2cd743":     "denied",
		"ERR The user executing the script can't run this command or subcommand":           "denied",
		"ERR Unknown Redis command called from script script: d09161, on @user_script:11.": "unknown",
		"ERR unknown command 'DELEX'":                                                      "unknown",
	} {
		err := redisError(reply)
		var kinds []string
		for kind, recognized := range map[string]bool{
			"type": rediserr.IsWrongType(err), "unknown": rediserr.IsUnknownCommand(err), "denied": rediserr.IsDenied(err),
		} {
			if recognized {
				kinds = append(kinds, kind)
			}
		}
		if got := strings.Join(kinds, " "); got != want || !rediserr.IsAnswer(err) {
			t.Errorf("%q is %q; want %q", reply, got, want)
		}
	}
	if rediserr.IsAnswer(io.EOF) || rediserr.IsWrongType(errors.New("WRONGTYPE")) || rediserr.IsDenied(nil) {
		t.Error("an error that Redis did not send is recognized")
	}
}
