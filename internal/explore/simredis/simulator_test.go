package simredis

import (
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
)

// memory is one in which the keys of an inventory are durable, until the test ends.
func newSimulator(t *testing.T) *Simulator {
	t.Helper()
	m, err := NewMemory(func(key string) bool { return strings.Contains(key, "inventory") })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// stocked is the state of a server that holds an inventory.
func stateWithStock(t *testing.T, m *Simulator, inventory string) *State {
	t.Helper()
	s, err := m.StateAfter(m.Empty(), []string{"SET", "inventory", inventory})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// client is one of a memory, until the test ends.
func newClient(t *testing.T, m *Simulator) *Client {
	t.Helper()
	c, err := m.NewClient(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Client.Close() })
	return c
}

func TestScriptThatFailsSaysWhatRedisSays(t *testing.T) {
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
			m := newSimulator(t)
			hash, err := m.StateAfter(m.empty, []string{"HSET", "h", "f", "1"})
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.answer(hash, 0, m.command([]byte(proto.Strings("EVAL", c.script, "1", "h"))))
			if err != nil || string(got.Reply) != c.reply {
				t.Errorf("%+v, %v; want %q", got, err, c.reply)
			}
		})
	}
}

// What a memory holds survives being put away and fetched again, whatever its type; and it is asked only once.
func TestMemoryKeepsEveryType(t *testing.T) {
	m := newSimulator(t)
	empty := m.loaded
	full := empty
	do := func(command ...string) string {
		t.Helper()
		a, err := m.answer(full, time.Second, m.command([]byte(proto.Strings(command...))))
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
		if err := m.load(empty); err != nil {
			t.Fatal(err)
		}
		if got := do(test.command...); got != test.want {
			t.Errorf("%v: %q; want %q", test.command, got, test.want)
		}
	}
	asked := m.server.CommandCount()
	do("GET", "a string")
	if again := m.server.CommandCount(); again != asked {
		t.Error("a question was asked twice")
	}
	later, err := m.stateLater(full, 1500*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if _, stays := later.Key("a hash"); stays || len(later.Keys) != 4 {
		t.Errorf("after its expiry, %v is left", later.Keys)
	}
}
