package simredis

import (
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
)

// newSimulator returns a simulator that is closed when the test ends. The keys of an inventory are durable.
func newSimulator(t *testing.T) *Simulator {
	t.Helper()
	sim, err := NewSimulator(func(key string) bool { return strings.Contains(key, "inventory") })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	return sim
}

// stateWithStock returns the state of a server that holds an inventory.
func stateWithStock(t *testing.T, sim *Simulator, inventory string) *State {
	t.Helper()
	s, err := sim.StateAfter(sim.Empty(), []string{"SET", "inventory", inventory})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// newClient returns a client that is closed when the test ends.
func newClient(t *testing.T, sim *Simulator) *Client {
	t.Helper()
	c, err := sim.NewClient(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Client.Close() })
	return c
}

// The error of a failed script has the wording of Redis.
func TestScriptErrorReadsAsInRedis(t *testing.T) {
	for name, c := range map[string]struct{ script, reply string }{
		"a command's error": {
			"local key = KEYS[1]\nreturn redis.call('INCR', key)",
			"-WRONGTYPE Operation against a key holding the wrong kind of value script: on @user_script:2.\r\n",
		},
		"an error of its own": {"error('boom')", "-ERR user_script:1: boom\r\n"},
		"an error it gives":   {"return {err = 'MINE no'}", "-MINE no\r\n"},
		"an error it has caught": {
			"return redis.pcall('INCR', KEYS[1])", "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			sim := newSimulator(t)
			hash, err := sim.StateAfter(sim.empty, []string{"HSET", "h", "f", "1"})
			if err != nil {
				t.Fatal(err)
			}
			got, err := sim.answer(hash, 0, sim.command([]byte(proto.Strings("EVAL", c.script, "1", "h"))))
			if err != nil || string(got.Reply) != c.reply {
				t.Errorf("answer %+v, error %v; want the reply %q", got, err, c.reply)
			}
		})
	}
}

// A state of keys of any type can be loaded again. A command that was answered before does not reach the server.
func TestSimulatorRestoresEveryType(t *testing.T) {
	sim := newSimulator(t)
	empty := sim.currentState
	full := empty
	do := func(command ...string) string {
		t.Helper()
		a, err := sim.answer(full, time.Second, sim.command([]byte(proto.Strings(command...))))
		if err != nil {
			t.Fatal(err)
		}
		full = a.NewState
		return string(a.Reply)
	}
	do("SET", "a string", "x y")
	do("HSET", "a hash", "f", "1", "g", "2")
	do("RPUSH", "a list", "one", "two", "two")
	do("SADD", "a set", "p", "q")
	do("ZADD", "a sorted set", "1.5", "low", "7", "high")
	do("PEXPIRE", "a hash", "1500")
	for _, test := range []struct {
		want    string
		command []string
	}{
		{"$3\r\nx y\r\n", []string{"GET", "a string"}},
		{"*4\r\n$1\r\nf\r\n$1\r\n1\r\n$1\r\ng\r\n$1\r\n2\r\n", []string{"HGETALL", "a hash"}},
		{":1500\r\n", []string{"PTTL", "a hash"}},
		{"*3\r\n$3\r\none\r\n$3\r\ntwo\r\n$3\r\ntwo\r\n", []string{"LRANGE", "a list", "0", "-1"}},
		{"*2\r\n$1\r\np\r\n$1\r\nq\r\n", []string{"SMEMBERS", "a set"}},
		{"*4\r\n$3\r\nlow\r\n$3\r\n1.5\r\n$4\r\nhigh\r\n$1\r\n7\r\n", []string{"ZRANGE", "a sorted set", "0", "-1", "WITHSCORES"}},
	} {
		if err := sim.load(empty); err != nil {
			t.Fatal(err)
		}
		if got := do(test.command...); got != test.want {
			t.Errorf("%v: reply %q; want %q", test.command, got, test.want)
		}
	}
	before := sim.server.CommandCount()
	do("GET", "a string")
	if after := sim.server.CommandCount(); after != before {
		t.Errorf("the server executed %d commands; want none for a cached answer", after-before)
	}
	later, err := sim.stateLater(full, 1500*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if _, exists := later.Key("a hash"); exists || len(later.Keys) != 4 {
		t.Errorf("after the expiry of the hash, %v is left; want the four other keys", later.Keys)
	}
}
