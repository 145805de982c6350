package fault_test

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/fault"
	"lockstep/util/lua"
)

func TestEndAndBegin(t *testing.T) {
	proxy, client, outside := open(t)
	outside.Set(t.Context(), "key", "a", 0)
	for range 2 { // it may end again
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

// A reply that is held says nothing to its client, though the command has had its effect.
func TestHoldsAReply(t *testing.T) {
	proxy, client, outside := open(t)
	trap := proxy.Catch(is("set", "lock"), fault.HoldReply)
	replied := make(chan error, 1)
	go func() { replied <- client.Set(t.Context(), "lock", "a", 0).Err() }()
	caught(t, trap)
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
	trap = proxy.Catch(is("set", "lock"), fault.HoldReply)
	go func() { replied <- client.Set(t.Context(), "lock", "b", 0).Err() }()
	caught(t, trap)
	trap.Drop()
	if err := <-replied; err == nil {
		t.Error("a reply that was dropped arrives")
	}
}

// A command that is sent twice takes effect twice, and its client gets the second reply; the next command is sent once.
func TestSendsACommandTwice(t *testing.T) {
	proxy, client, _ := open(t)
	trap := proxy.Catch(is("incr", "n"), fault.Resend)
	for _, want := range []int64{2, 3} {
		if got, err := client.Incr(t.Context(), "n").Result(); got != want || err != nil {
			t.Errorf("INCR: %d, %v; want %d", got, err, want)
		}
	}
	caught(t, trap)
}

// A script that is caught by its SHA-1 does what it says, on a Redis that does not know it yet, too; what is not caught is sent as it is.
func TestACaughtScriptIsSentWhole(t *testing.T) {
	proxy, client, outside := open(t)
	keys := []string{"lock"}
	sum := redis.NewScript(lua.CompareAndDelete).Hash()
	if err := client.EvalSha(t.Context(), sum, keys, "a").Err(); !errors.Is(err, redis.ErrNoScript) {
		t.Errorf("not caught: %v; want %v", err, redis.ErrNoScript)
	}
	outside.Set(t.Context(), "lock", "a", 0)
	trap := proxy.Catch(is("evalsha", sum), fault.LoseReply)
	if err := client.EvalSha(t.Context(), sum, keys, "a").Err(); err == nil || errors.Is(err, redis.ErrNoScript) {
		t.Errorf("caught: %v; want a lost connection", err)
	}
	caught(t, trap)
	if left := outside.Exists(t.Context(), "lock").Val(); left != 0 {
		t.Error("the script that was caught has done nothing")
	}
}

// A command of a transaction is sent twice with all of it.
func TestSendsATransactionTwice(t *testing.T) {
	proxy, client, _ := open(t)
	trap := proxy.Catch(is("incr", "n"), fault.Resend)
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
	caught(t, trap)
	if got, err := client.Get(t.Context(), "key").Result(); got != "a" || err != nil {
		t.Errorf("the connection is out of step: %q, %v", got, err)
	}
}

// While Redis hangs, a command waits; then it takes effect.
func TestHangs(t *testing.T) {
	proxy, client, outside := open(t)
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

// A proxy can be closed while it has ended, while Redis hangs, and while a command is held.
func TestClosesWhateverGoesOn(t *testing.T) {
	proxy, client, _ := open(t)
	if err := client.Ping(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 2)
	trap := proxy.Catch(is("set", "key"), fault.Hold)
	go func() { failed <- client.Set(t.Context(), "key", "a", 0).Err() }()
	caught(t, trap)
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

func TestATrapCanBeRemoved(t *testing.T) {
	proxy, client, _ := open(t)
	proxy.Remove(proxy.Catch(is("set", "key"), fault.LoseRequest))
	if err := client.Set(t.Context(), "key", "a", 0).Err(); err != nil {
		t.Errorf("SET after the trap was removed: %v", err)
	}
}
