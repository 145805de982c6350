package meaning_test

import (
	"io/fs"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/redis/meaning"
	"lockstep/util/lua"
)

// Each script of a lock or of a sale has a verb. The other scripts are for heartbeats and runs, or are parts of scripts.
func TestEveryScriptHasVerb(t *testing.T) {
	verbs := map[string]meaning.Verb{
		lua.Lock: meaning.Takes, lua.LockFenced: meaning.Takes, lua.Acquire: meaning.Takes, lua.AcquireOrAsk: meaning.Takes,
		lua.SetNXExpire: meaning.Takes, lua.UpdateExpireTime: meaning.Renews, lua.CompareAndExtend: meaning.Renews,
		lua.Unlock: meaning.Removes, lua.CompareAndDelete: meaning.Removes, lua.Release: meaning.Removes, lua.RemoveHolder: meaning.Removes,
		lua.ReadFenced: meaning.Reads, lua.Write: meaning.Writes, lua.Take: meaning.Writes, lua.Sell: meaning.Writes,
	}
	files := []string{"beat.lua", "startRun.lua", "onMaster.lua", "queue.lua", "piece.lua"}
	for script, want := range verbs {
		files = append(files, lua.File(script))
		key := lock.Key
		if want == meaning.Reads || want == meaning.Writes {
			key = meaning.StockKey
		}
		for argument := range 3 { // including too few
			args := append([]any{"EVAL", script, 1, key}, []any{"owner", 1000}[:min(argument, 2)]...)
			if got := meaning.Of(args, nil, nil).Verb; got != want {
				t.Errorf("%s with %d arguments %q; want %q", lua.File(script), argument, got, want)
			}
		}
		if got := meaning.Of([]any{"eval", script, 1, "{inventory}:barrier", "owner", 1000}, nil, nil); got != (meaning.Meaning{}) {
			t.Errorf("%s on another key means %+v", lua.File(script), got)
		}
	}
	all, err := fs.Glob(lua.Sources, "*.lua")
	if slices.Sort(files); err != nil || !slices.Equal(files, all) {
		t.Errorf("%v have a verb, or are known to have none; there are %v (%v)", files, all, err)
	}
}

// The description of a script omits what it writes into the ledger, and contains what it does with the stock.
func TestDescribeFormatsCommands(t *testing.T) {
	keys := []any{meaning.StockKey, "run", "newest", "older", "fence"}
	write := func(token int) []any {
		return append(append([]any{"eval", lua.Write, 5}, keys...), 4, token, "run", "id", "{}")
	}
	for _, c := range []struct {
		args []any
		want string
	}{
		{[]any{"get", "key"}, "GET: GET key"},
		{[]any{"ping"}, "PING: PING"},
		{write(7), "write: EVAL write.lua: SET inventory 4 (token 7)"},
		{write(0), "write: EVAL write.lua: SET inventory 4"},
		{append(append([]any{"eval", lua.ReadFenced, 3}, keys[:3]...), int64(7), "run"),
			"readFenced: EVAL readFenced.lua: GET inventory (token 7)"},
		{append(append([]any{"eval", lua.Take, 4}, keys[:4]...), "run", "id", "{}"), "take: EVAL take.lua: DECR inventory"},
		{[]any{"eval", lua.Lock, 1, "key", "A"}, "lock: EVAL lock.lua key A"},
		{append([]any{"evalsha", redis.NewScript(lua.Write).Hash()}, write(7)[2:]...), "write: EVALSHA write.lua: SET inventory 4 (token 7)"},
		{[]any{"evalsha", "sum", 1, "key"}, "EVALSHA: EVALSHA sum 1 key"},
	} {
		if name, all := meaning.Describe(c.args); name+": "+all != c.want {
			t.Errorf("%s: %s; want %s", name, all, c.want)
		}
	}
}
