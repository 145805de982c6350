package simredis

import (
	"testing"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/redis/go-redis/v9"

	"lockstep/util/lua"
)

// A version counts the changes of what a cluster holds, and of the transient keys apart: an expiry, and what is written again, is none.
func TestAVersionCountsChanges(t *testing.T) {
	m := newSimulator(t)
	for name, test := range map[string]struct {
		command []string
		want    Version
	}{
		"the lock":                 {[]string{"DEL", "distributedLock"}, Version{All: 1, Transient: 1}},
		"another key of its":       {[]string{"INCR", "{distributedLock}:fence"}, Version{All: 1, Transient: 1}},
		"the stock":                {[]string{"DECR", "inventory"}, Version{All: 1}},
		"what is read":             {[]string{"GET", "distributedLock"}, Version{}},
		"an expiry":                {[]string{"PEXPIRE", "distributedLock", "20000"}, Version{}},
		"what is there is written": {[]string{"SET", "distributedLock", "A", "EX", "20"}, Version{}},
	} {
		t.Run(name, func(t *testing.T) {
			c := m.NewCluster(stateWithStock(t, m, "5"), 0)
			execute(t, c, "SET", "distributedLock", "A", "EX", "10")
			before := c.Version()
			execute(t, c, test.command...)
			if is := c.Version().Minus(before); is != test.want || before.Plus(is) != c.Version() {
				t.Errorf("%v: %+v; want %+v", test.command, is, test.want)
			}
		})
	}
}

// A server knows the scripts of package lua from the beginning; others it has to be sent first.
func TestAServerKnowsTheScriptsOfPackageLua(t *testing.T) {
	m := newSimulator(t)
	for script, want := range map[string]string{
		lua.CompareAndDelete: ":30\r\n", "return 30": "-NOSCRIPT No matching script. Please use EVAL.\r\n",
	} {
		c := m.NewCluster(m.Empty(), 0)
		sum := redis.NewScript(script).Hash()
		if got := execute(t, c, "EVALSHA", sum, "1", "distributedLock", "A"); got != want {
			t.Errorf("EVALSHA %.30q: %q; want %q", script, got, want)
		}
		execute(t, c, "EVAL", script, "1", "distributedLock", "A")
		if got := execute(t, c, "EVALSHA", sum, "1", "distributedLock", "A"); got != ":30\r\n" {
			t.Errorf("EVALSHA %.30q after EVAL: %q", script, got)
		}
	}
}

// An attempt prolongs an expiry if it changes nothing but that, once it comes a moment later. Nothing has happened after the question.
func TestWhatWouldProlong(t *testing.T) {
	m := newSimulator(t)
	for name, test := range map[string]struct {
		before, command []string
		want            bool
	}{
		"a renewal":         {command: []string{"PEXPIRE", "distributedLock", "10000"}, want: true},
		"written again":     {command: []string{"SET", "distributedLock", "A", "PX", "10000"}, want: true},
		"made to stay":      {command: []string{"PERSIST", "distributedLock"}, want: true},
		"written over":      {command: []string{"SET", "distributedLock", "B", "PX", "10000"}},
		"not taken":         {command: []string{"SET", "distributedLock", "B", "NX", "PX", "10000"}},
		"taken":             {command: []string{"SET", "{distributedLock}:other", "B", "NX", "PX", "10000"}},
		"read":              {command: []string{"GET", "distributedLock"}},
		"another's expiry":  {command: []string{"PEXPIRE", "{distributedLock}:other", "10000"}},
		"removed, and read": {command: []string{"GETDEL", "distributedLock"}},
		"the same date": {
			before: []string{"PEXPIREAT", "distributedLock", "946684810000"}, command: []string{"PEXPIREAT", "distributedLock", "946684810000"},
		},
		"gone by then": {
			before: []string{"PEXPIRE", "distributedLock", "1"}, command: []string{"PEXPIRE", "distributedLock", "10000"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := m.NewCluster(stateWithStock(t, m, "5"), 0)
			execute(t, c, "SET", "distributedLock", "A", "PX", "10000")
			if test.before != nil {
				execute(t, c, test.before...)
			}
			s, held := c.Servers()[0], c.MainState()
			command := c.Command([]byte(proto.Strings(test.command...)))
			if is := c.WouldProlong(s, 0, command); is != test.want || s.State != held {
				t.Errorf("%v: %t, and Redis holds %v; want %t", test.command, is, s.State.Keys, test.want)
			}
		})
	}
}

// do lets a command take effect on a cluster's first server.
func execute(t *testing.T, c *Cluster, command ...string) (reply string) {
	t.Helper()
	s := c.Servers()[0]
	answer, err := c.Evaluate(s, 0, c.Command([]byte(proto.Strings(command...))))
	if err != nil {
		t.Fatal(err)
	}
	c.SetState(s, answer.NewState)
	return string(answer.Reply)
}
