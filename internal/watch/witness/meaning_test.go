package witness

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/util/lua"
)

// What writes an order answers with the order, if that is written: take.lua each time, write.lua if it was known.
func TestMeaningOfAWrite(t *testing.T) {
	const order = `{"id":"one","stock_before":5,"stock_after":4}`
	take := func(script string) []any {
		return []any{"eval", script, 4, dao.InventoryKey, "run", "newest", "older", "run"}
	}
	write := []any{"eval", lua.Write, 5, dao.InventoryKey, "run", "newest", "older", "fence", 4, 7}
	for _, c := range []struct {
		args  []any
		reply any
		want  meaning
	}{
		{take(lua.Take), order, meaning{verb: Writes, outcome: Done, stock: 4}},
		{take(lua.Sell), order, meaning{verb: Writes, outcome: Done, stock: 4}},
		{take(lua.Take), int64(1), meaning{verb: Writes, outcome: Refused}},
		{take(lua.Take), int64(2), meaning{verb: Writes, outcome: Over}},
		{write, int64(1), meaning{verb: Writes, outcome: Done, stock: 4, token: 7}},
		{write, order, meaning{verb: Writes, outcome: Done, stock: 4, token: 7}},
		{write, int64(0), meaning{verb: Writes, outcome: Refused, stock: 4, token: 7}},
		{write, int64(2), meaning{verb: Writes, outcome: Over, stock: 4, token: 7}},
	} {
		if got := meaningOf(c.args, c.reply, nil); got != c.want {
			t.Errorf("%v → %v means %+v; want %+v", c.args[2:], c.reply, got, c.want)
		}
	}
}

// A native release names its owner, and its reply says only whether the lock was that owner's.
func TestMeaningOfANativeRelease(t *testing.T) {
	for _, args := range [][]any{
		{"delex", "distributedLock", "IFEQ", "distributedLock:one"},
		{"DELIFEQ", "distributedLock", "distributedLock:one"},
	} {
		for reply, outcome := range map[int64]Outcome{1: Done, 0: NotOwner} {
			want := meaning{verb: Removes, outcome: outcome, owner: "distributedLock:one"}
			if got := meaningOf(args, reply, nil); got != want {
				t.Errorf("%v → %d means %+v; want %+v", args, reply, got, want)
			}
		}
		if got := meaningOf(args, nil, redis.ErrClosed).outcome; got != Unknown {
			t.Errorf("%v, without a reply, is %s", args, got)
		}
	}
}
