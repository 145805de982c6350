package meaning_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/redis/meaning"
	"lockstep/util/lua"
)

// A script that writes an order replies with the order that is stored: take.lua always, write.lua if the order was stored before.
func TestOfInterpretsWrite(t *testing.T) {
	const order, sent, another = `{"owner":"r1#1","stock_before":5,"stock_after":4}`, `{"owner":"r1#1"}`, `{"owner":"r2#1","stock_after":6}`
	take := func(script string) []any {
		return []any{"eval", script, 4, meaning.StockKey, "run", "newest", "older", "run", "one", sent}
	}
	write := []any{"eval", lua.Write, 5, meaning.StockKey, "run", "newest", "older", "fence", 4, 7, "run", "one", sent}
	for _, c := range []struct {
		args  []any
		reply any
		want  meaning.Meaning
	}{
		{take(lua.Take), order, meaning.Meaning{Verb: meaning.Writes, Outcome: meaning.Done, Stock: 4}},
		{take(lua.Sell), order, meaning.Meaning{Verb: meaning.Writes, Outcome: meaning.Done, Stock: 4}},
		{take(lua.Take), another, meaning.Meaning{Verb: meaning.Writes, Outcome: meaning.Again, Stock: 6}},
		{write, another, meaning.Meaning{Verb: meaning.Writes, Outcome: meaning.Again, Stock: 6, Token: 7}},
		{take(lua.Take), int64(lua.SoldOut), meaning.Meaning{Verb: meaning.Writes, Outcome: meaning.Refused}},
		{take(lua.Take), int64(2), meaning.Meaning{Verb: meaning.Writes, Outcome: meaning.Over}},
		{write, int64(1), meaning.Meaning{Verb: meaning.Writes, Outcome: meaning.Done, Stock: 4, Token: 7}},
		{write, order, meaning.Meaning{Verb: meaning.Writes, Outcome: meaning.Done, Stock: 4, Token: 7}},
		{write, int64(0), meaning.Meaning{Verb: meaning.Writes, Outcome: meaning.Refused, Stock: 4, Token: 7}},
		{write, int64(4), meaning.Meaning{Verb: meaning.Writes, Outcome: meaning.Over, Stock: 4, Token: 7}}, // the token is not stale
		{write, int64(2), meaning.Meaning{Verb: meaning.Writes, Outcome: meaning.Over, Stock: 4, Token: 7}},
	} {
		if got := meaning.Of(c.args, c.reply, nil); got != c.want {
			t.Errorf("%v → %v means %+v; want %+v", c.args[2:], c.reply, got, c.want)
		}
	}
}

// A script has the same meaning by its SHA-1. If Redis does not know the script, nothing happened; if lockstep does not, it has no meaning.
func TestOfInterpretsScriptBySHA1(t *testing.T) {
	whole := []any{"eval", lua.Take, 4, meaning.StockKey, "run", "newest", "older", "run", "one", "{}"}
	sum := append([]any{"evalsha", redis.NewScript(lua.Take).Hash()}, whole[2:]...)
	if got, want := meaning.Of(sum, int64(lua.SoldOut), nil), meaning.Of(whole, int64(lua.SoldOut), nil); got != want || got.Verb == "" {
		t.Errorf("%v means %+v; want %+v", sum, got, want)
	}
	if got := meaning.Of(sum, nil, redis.ErrNoScript); got != (meaning.Meaning{}) {
		t.Errorf("unknown to Redis it means %+v", got)
	}
	sum[1] = redis.NewScript("return 1").Hash()
	if got := meaning.Of(sum, int64(1), nil); got != (meaning.Meaning{}) {
		t.Errorf("of an unknown script it means %+v", got)
	}
}

// A reply that is an order is shortened to the stock that it left; other replies stay as they are.
func TestShortReplyKeepsStock(t *testing.T) {
	for reply, want := range map[string]string{
		`{"at":"0s","id":"A","stock_after":99,"stock_before":100}`: `{…"stock_after":99}`,
		"1": "1", "[1 100]": "[1 100]", "nil": "nil",
		`{"owner":"A"}`: `{"owner":"A"}`, "distributedLock:A": "distributedLock:A", `{"stock":1}`: `{"stock":1}`,
	} {
		if got := meaning.ShortReply(reply); got != want {
			t.Errorf("%s is shown as %s; want %s", reply, got, want)
		}
	}
}

// A native release names its owner, and its reply says only whether the lock was that owner's.
func TestOfInterpretsCompareAndDelete(t *testing.T) {
	for _, args := range [][]any{
		{"delex", "distributedLock", "IFEQ", "distributedLock:one"},
		{"DELIFEQ", "distributedLock", "distributedLock:one"},
	} {
		for reply, outcome := range map[int64]meaning.Outcome{1: meaning.Done, 0: meaning.NotOwner} {
			want := meaning.Meaning{Verb: meaning.Removes, Outcome: outcome, Owner: "distributedLock:one"}
			if got := meaning.Of(args, reply, nil); got != want {
				t.Errorf("%v → %d means %+v; want %+v", args, reply, got, want)
			}
		}
		if got := meaning.Of(args, nil, redis.ErrClosed).Outcome; got != meaning.Unknown {
			t.Errorf("%v, without a reply, is %s", args, got)
		}
	}
}
