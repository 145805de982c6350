package fault_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/fault"
	"lockstep/util/lua"
)

// Between End and Begin clients get errors; afterwards Redis has its data again.
func TestProxyKeepsDataAcrossEndAndBegin(t *testing.T) {
	proxy, client, outside := openProxy(t)
	outside.Set(t.Context(), "key", "a", 0)
	for range 2 { // the second time, it ends after a Begin
		if err := client.Get(t.Context(), "key").Err(); err != nil {
			t.Fatal(err)
		}
		if err := proxy.End(); err != nil {
			t.Fatal(err)
		}
		if err := client.Get(t.Context(), "key").Err(); err == nil {
			t.Error("Redis answers though it has ended")
		}
		if err := proxy.Begin(); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := client.Get(t.Context(), "key").Result(); got != "a" || err != nil {
		t.Errorf("after it began again: %q, %v", got, err)
	}
}

// A held reply does not reach its client, although the command has taken effect.
func TestHoldReplyDelaysReplyNotEffect(t *testing.T) {
	proxy, client, outside := openProxy(t)
	trap := proxy.Catch(matchCommand("set", "lock"), fault.HoldReply)
	replied := make(chan error, 1)
	go func() { replied <- client.Set(t.Context(), "lock", "a", 0).Err() }()
	awaitCaught(t, trap)
	if got := outside.Get(t.Context(), "lock").Val(); got != "a" {
		t.Errorf("Redis holds %q; want the command's effect", got)
	}
	select {
	case err := <-replied:
		t.Errorf("the reply arrives though it is held: %v", err)
	default:
	}
	trap.Release()
	if err := <-replied; err != nil {
		t.Errorf("after the reply was released: %v", err)
	}
	trap = proxy.Catch(matchCommand("set", "lock"), fault.HoldReply)
	go func() { replied <- client.Set(t.Context(), "lock", "b", 0).Err() }()
	awaitCaught(t, trap)
	trap.Drop()
	if err := <-replied; err == nil {
		t.Error("a reply that was dropped arrives")
	}
}

// A command that is sent twice takes effect twice, and its client gets the second reply. The next command is sent once.
func TestResendAppliesCommandTwice(t *testing.T) {
	proxy, client, _ := openProxy(t)
	trap := proxy.Catch(matchCommand("incr", "n"), fault.Resend)
	for _, want := range []int64{2, 3} {
		if got, err := client.Incr(t.Context(), "n").Result(); got != want || err != nil {
			t.Errorf("INCR: %d, %v; want %d", got, err, want)
		}
	}
	awaitCaught(t, trap)
}

// A script that is caught by its SHA-1 is executed, even by a Redis that does not know it yet. A script that is not caught is sent as it
// is.
func TestScriptCaughtBySHA1IsExecuted(t *testing.T) {
	proxy, client, outside := openProxy(t)
	keys := []string{"lock"}
	sum := redis.NewScript(lua.CompareAndDelete).Hash()
	if err := client.EvalSha(t.Context(), sum, keys, "a").Err(); !errors.Is(err, redis.ErrNoScript) {
		t.Errorf("not caught: %v; want %v", err, redis.ErrNoScript)
	}
	outside.Set(t.Context(), "lock", "a", 0)
	trap := proxy.Catch(matchCommand("evalsha", sum), fault.LoseReply)
	if err := client.EvalSha(t.Context(), sum, keys, "a").Err(); err == nil || errors.Is(err, redis.ErrNoScript) {
		t.Errorf("caught: %v; want a lost connection", err)
	}
	awaitCaught(t, trap)
	if left := outside.Exists(t.Context(), "lock").Val(); left != 0 {
		t.Error("the script that was caught has done nothing")
	}
}

// If a command of a transaction is to be sent twice, the whole transaction is.
func TestResendRepeatsWholeTransaction(t *testing.T) {
	proxy, client, _ := openProxy(t)
	trap := proxy.Catch(matchCommand("incr", "n"), fault.Resend)
	for _, want := range []int64{2, 3} {
		var n *redis.IntCmd
		_, err := client.TxPipelined(t.Context(), func(tx redis.Pipeliner) error {
			tx.Set(t.Context(), "key", "a", 0)
			n = tx.Incr(t.Context(), "n")
			return nil
		})
		if err != nil || n.Val() != want {
			t.Errorf("INCR in a transaction: %v, %v; want %d", n, err, want)
		}
	}
	awaitCaught(t, trap)
	if got, err := client.Get(t.Context(), "key").Result(); got != "a" || err != nil {
		t.Errorf("the connection is out of step: %q, %v", got, err)
	}
}

// While Redis hangs, a command waits; then it takes effect.
func TestHangDelaysCommands(t *testing.T) {
	proxy, client, outside := openProxy(t)
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	const lasts = 50 * time.Millisecond
	began := time.Now()
	proxy.Hang(lasts)
	if err := client.Set(t.Context(), "key", "a", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < lasts {
		t.Errorf("it took %v; want %v at least", took, lasts)
	}
	if got := outside.Get(t.Context(), "key").Val(); got != "a" {
		t.Errorf("Redis holds %q", got)
	}
}

// A proxy can be closed after End, while Redis hangs, and while a command is held.
func TestCloseDuringFaults(t *testing.T) {
	proxy, client, _ := openProxy(t)
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 2)
	trap := proxy.Catch(matchCommand("set", "key"), fault.Hold)
	go func() { failed <- client.Set(t.Context(), "key", "a", 0).Err() }()
	awaitCaught(t, trap)
	proxy.Hang(time.Hour)
	go func() { failed <- client.Ping(t.Context()).Err() }()
	if err := proxy.End(); err != nil {
		t.Fatal(err)
	}
	for range cap(failed) {
		if err := <-failed; err == nil {
			t.Error("Redis answers though it has ended")
		}
	}
}

func TestRemovedTrapCatchesNothing(t *testing.T) {
	proxy, client, _ := openProxy(t)
	proxy.Remove(proxy.Catch(matchCommand("set", "key"), fault.LoseRequest))
	if err := client.Set(t.Context(), "key", "a", 0).Err(); err != nil {
		t.Errorf("SET after the trap was removed: %v", err)
	}
}
