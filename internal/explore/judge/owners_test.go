package judge

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/anomaly"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

const (
	byTime = nobody // stands for time instead of an actor
	a      = 0
	b      = 1
)

// sentCommand is a command on the lock's key that an actor sends to a server.
type sentCommand struct {
	by, server int
	command    []string
}

// does returns a command on the lock's key.
func does(by, server int, command string, args ...string) sentCommand {
	return sentCommand{by, server, append([]string{command, lock.Key}, args...)}
}

// staticDriver is a Driver in which nothing happens by itself.
type staticDriver struct {
	*simredis.Cluster
	excuses Excuses
}

func (staticDriver) Now() time.Duration { return 0 }
func (d staticDriver) Excuses() Excuses { return d.excuses }

// fixture is a judge of the actors A, B and C, of which C tries only once, with the servers that it observes.
type fixture struct {
	*Judge
	cluster *simredis.Cluster
}

// newFixture returns a fixture with a single server, or with so many masters.
func newFixture(t *testing.T, masters int, excuses Excuses) *fixture {
	t.Helper()
	m, err := simredis.NewSimulator(func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	cluster := m.NewCluster(m.Empty(), masters)
	setup := Setup{Driver: staticDriver{cluster, excuses}, Key: lock.Key, Scope: strategy.Everybody, OnNodes: masters > 0, MaxOvertakes: 1}
	for i, name := range []string{"A", "B", "C"} {
		setup.Actors = append(setup.Actors, Actor{Name: name, Process: name, TriesOnce: i == onceActor, ActorState: alive{}})
	}
	return &fixture{New(setup), cluster}
}

// do executes commands, and reports each change to the judge.
func (s *fixture) do(t *testing.T, commands ...sentCommand) {
	t.Helper()
	for _, d := range commands {
		server := s.cluster.Servers()[d.server]
		answer, err := s.cluster.Evaluate(server, 0, s.cluster.Command([]byte(proto.Strings(d.command...))))
		if err != nil {
			t.Fatal(err)
		}
		before := server.State
		s.cluster.SetState(server, answer.NewState)
		s.RecordChange(Change{Server: d.server, Before: before, After: server.State}, d.by)
	}
}

// alive is the state of an actor in the middle of its sale.
type alive struct{}

func (alive) Started() bool  { return true }
func (alive) Paused() bool   { return false }
func (alive) Dead() bool     { return false }
func (alive) Finished() bool { return false }
func (alive) Err() error     { return nil }

// byB returns a detection of something that B does to A's lock.
func byB(symptom Symptom) []Detection {
	return []Detection{{anomaly.ForeignRelease, symptom, []any{"B", "A"}}}
}

// The holder follows from the writes to the lock's key, and a change to the lock of another actor is detected.
func TestHolderFollowsFromKeyWrites(t *testing.T) {
	for name, test := range map[string]struct {
		masters int
		sent    []sentCommand
		holder  int
		want    []Detection
	}{
		"taken":               {sent: []sentCommand{does(a, 0, "SET", "1")}, holder: a},
		"given back":          {sent: []sentCommand{does(a, 0, "SET", "1"), does(a, 0, "DEL")}, holder: nobody},
		"ended by time":       {sent: []sentCommand{does(a, 0, "SET", "1"), does(byTime, 0, "DEL")}, holder: nobody},
		"taken after its end": {sent: []sentCommand{does(a, 0, "SET", "1"), does(byTime, 0, "DEL"), does(b, 0, "SET", "1")}, holder: b},
		"read":                {sent: []sentCommand{does(a, 0, "SET", "1"), does(b, 0, "GET")}, holder: a},
		"renewed":             {sent: []sentCommand{does(a, 0, "SET", "1", "EX", "10"), does(a, 0, "PEXPIRE", "15000")}, holder: a},
		"B removes A's lock":  {sent: []sentCommand{does(a, 0, "SET", "1"), does(b, 0, "DEL")}, holder: nobody, want: byB(ForeignRemoval)},
		"B extends A's lock": {
			sent: []sentCommand{does(a, 0, "SET", "1", "EX", "10"), does(b, 0, "PEXPIRE", "15000")}, holder: a, want: byB(ForeignRenewal),
		},
		"B overwrites A's lock": {
			sent: []sentCommand{does(a, 0, "SET", "1", "EX", "10"), does(b, 0, "SET", "2")}, holder: b, want: byB(ForeignOverwrite),
		},
		"handed over to a waiter": {sent: []sentCommand{does(a, 0, "SET", lock.Owner("A")), does(a, 0, "SET", lock.Owner("B")+":7")}, holder: b},
		"B joins the list":        {sent: []sentCommand{does(a, 0, "RPUSH", lock.Owner("A")), does(b, 0, "RPUSH", lock.Owner("B"))}, holder: a},
		"A leaves the list": {
			sent: []sentCommand{
				does(a, 0, "RPUSH", lock.Owner("A")), does(b, 0, "RPUSH", lock.Owner("B")),
				does(a, 0, "LREM", "1", lock.Owner("A")),
			},
			holder: b,
		},
		"B leaves the list": {
			sent: []sentCommand{
				does(a, 0, "RPUSH", lock.Owner("A")), does(b, 0, "RPUSH", lock.Owner("B")),
				does(b, 0, "LREM", "1", lock.Owner("B")),
			},
			holder: a,
		},
		"A expelled from the list": {
			sent: []sentCommand{
				does(a, 0, "RPUSH", lock.Owner("A")), does(a, 0, "PEXPIRE", "15000"), does(b, 0, "RPUSH", lock.Owner("B")),
				does(b, 0, "LREM", "1", lock.Owner("A")),
			},
			holder: b, want: byB(ForeignOverwrite),
		},
		"B joins a sorted set": {
			sent: []sentCommand{does(a, 0, "ZADD", "2", lock.Owner("A")), does(b, 0, "ZADD", "1", lock.Owner("B"))}, holder: a,
		},
		"A expelled from a sorted set": {
			sent: []sentCommand{
				does(a, 0, "ZADD", "2", lock.Owner("A")), does(a, 0, "PEXPIRE", "15000"), does(b, 0, "ZADD", "1", lock.Owner("B")),
				does(b, 0, "ZREM", lock.Owner("A")),
			},
			holder: b, want: byB(ForeignOverwrite),
		},
		"counters in a hash": {sent: []sentCommand{does(a, 0, "HINCRBY", "next", "1"), does(b, 0, "HINCRBY", "next", "1")}, holder: nobody},
		"its own value with a suffix": {
			sent: []sentCommand{does(a, 0, "SET", lock.Owner("A")+":1"), does(a, 0, "SET", lock.Owner("A")+":2")}, holder: a,
		},
		"a minority": {masters: 3, sent: []sentCommand{does(a, 1, "SET", "1")}, holder: nobody},
		"a majority": {masters: 3, sent: []sentCommand{does(a, 1, "SET", "1"), does(b, 2, "SET", "1"), does(a, 3, "SET", "1")}, holder: a},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, test.masters, Excuses{})
			s.RecordAsk(a, lock.Owner("A"))
			s.RecordAsk(b, lock.Owner("B"))
			s.do(t, test.sent...)
			if s.Holder() != test.holder || !reflect.DeepEqual(s.Detected(), test.want) {
				t.Errorf("got holder %d, detected %v; want holder %d, %v", s.Holder(), s.Detected(), test.holder, test.want)
			}
		})
	}
}

// If a command only increments or decrements numbers in the key, several actors count in it, and the key does not show who holds the lock.
func TestCountedKeyHasNoHolder(t *testing.T) {
	for name, test := range map[string]struct {
		before, after string
		expiry        []string // expiry options of the SET that overwrites the value
		counts        bool     // whether the change counts as counting
	}{
		"incremented":              {before: "1", after: "2", expiry: []string{"KEEPTTL"}, counts: true},
		"decremented":              {before: "10", after: "9", expiry: []string{"KEEPTTL"}, counts: true},
		"incremented beside words": {before: "1 held, 9 wait", after: "1 held, 10 wait", expiry: []string{"KEEPTTL"}, counts: true},
		"two numbers":              {before: "1 held, 9 wait", after: "2 held, 8 wait", expiry: []string{"KEEPTTL"}, counts: true},
		"increased by two":         {before: "1", after: "3", expiry: []string{"KEEPTTL"}},
		"other words":              {before: "1 held", after: "2 wait", expiry: []string{"KEEPTTL"}},
		"an additional number":     {before: "1 held", after: "1 held 1", expiry: []string{"KEEPTTL"}},
		"with another expiry":      {before: "1", after: "2", expiry: []string{"EX", "20"}},
		"without an expiry":        {before: "1", after: "2"},
		"unchanged":                {before: "1", after: "1", expiry: []string{"EX", "20"}},
		"larger than 64 bits":      {before: "9223372036854775807", after: "9223372036854775808", expiry: []string{"KEEPTTL"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t, 0, Excuses{})
			s.do(t, does(a, 0, "SET", test.before, "EX", "10"))
			s.RecordEntry(a, fakeLease{})
			s.do(t, does(b, 0, "SET", append([]string{test.after}, test.expiry...)...))
			unjudged := slices.Contains(s.Unjudged(), anomaly.ForeignRelease)
			if unjudged != test.counts || (len(s.Detected()) == 0) != test.counts {
				t.Errorf("got unjudged %q, detected %v; want it to be counting: %t", s.Unjudged(), s.Detected(), test.counts)
			}
			if test.counts && s.Holder() != nobody {
				t.Errorf("got holder %d; want nobody", s.Holder())
			}
		})
	}
}
