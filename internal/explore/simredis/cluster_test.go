package simredis

import (
	"testing"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/redis/go-redis/v9"

	"lockstep/util/lua"
)

// A version counts changes of values, and separately those of transient keys. A new expiry, or the same value again, is no change.
func TestVersionCountsChangesOfValues(t *testing.T) {
	sim := newSimulator(t)
	for name, test := range map[string]struct {
		command []string
		want    Version
	}{
		"delete the lock":               {command: []string{"DEL", "distributedLock"}, want: Version{All: 1, Transient: 1}},
		"write another key of the lock": {[]string{"INCR", "{distributedLock}:fence"}, Version{All: 1, Transient: 1}},
		"write the stock":               {command: []string{"DECR", "inventory"}, want: Version{All: 1}},
		"read":                          {command: []string{"GET", "distributedLock"}, want: Version{}},
		"set an expiry":                 {command: []string{"PEXPIRE", "distributedLock", "20000"}, want: Version{}},
		"write the same value":          {command: []string{"SET", "distributedLock", "A", "EX", "20"}, want: Version{}},
	} {
		t.Run(name, func(t *testing.T) {
			c := sim.NewCluster(stateWithStock(t, sim, "5"), 0)
			execute(t, c, "SET", "distributedLock", "A", "EX", "10")
			before := c.Version()
			execute(t, c, test.command...)
			if got := c.Version().Minus(before); got != test.want || before.Plus(got) != c.Version() {
				t.Errorf("%v: changes %+v; want %+v", test.command, got, test.want)
			}
		})
	}
}

// EVALSHA knows the scripts of package lua from the start; others have to be sent first.
func TestEvalSHAKnowsScriptsOfPackageLua(t *testing.T) {
	sim := newSimulator(t)
	for script, want := range map[string]string{
		lua.CompareAndDelete: ":30\r\n", "return 30": "-NOSCRIPT No matching script. Please use EVAL.\r\n",
	} {
		c := sim.NewCluster(sim.Empty(), 0)
		sum := redis.NewScript(script).Hash()
		if got := execute(t, c, "EVALSHA", sum, "1", "distributedLock", "A"); got != want {
			t.Errorf("EVALSHA %.30q: %q; want %q", script, got, want)
		}
		execute(t, c, "EVAL", script, "1", "distributedLock", "A")
		if got := execute(t, c, "EVALSHA", sum, "1", "distributedLock", "A"); got != ":30\r\n" {
			t.Errorf("EVALSHA %.30q after EVAL: %q; want :30", script, got)
		}
	}
}

// WouldProlong reports whether a later command would change an expiry and nothing else. It changes nothing itself.
func TestWouldProlong(t *testing.T) {
	sim := newSimulator(t)
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
			c := sim.NewCluster(stateWithStock(t, sim, "5"), 0)
			execute(t, c, "SET", "distributedLock", "A", "PX", "10000")
			if test.before != nil {
				execute(t, c, test.before...)
			}
			s, held := c.Servers()[0], c.MainState()
			command := c.Command([]byte(proto.Strings(test.command...)))
			if got := c.WouldProlong(s, 0, command); got != test.want || s.State != held {
				t.Errorf("WouldProlong(%v) = %t, and Redis holds %v; want %t, and no change", test.command, got, s.State.Keys, test.want)
			}
		})
	}
}

// execute executes a command on a cluster's first server.
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
