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
	nobodys = nobody // time, and not an actor
	a       = 0
	b       = 1
)

// deed is a command that an actor sends to a server.
type deed struct {
	by, server int
	command    []string
}

func does(by, server int, command string, args ...string) deed {
	return deed{by, server, append([]string{command, lock.Key}, args...)}
}

// noEngine is a driver in which nothing happens by itself.
type noEngine struct {
	*simredis.Cluster
	past Excuses
}

func (noEngine) Now() time.Duration { return 0 }
func (e noEngine) Excuses() Excuses { return e.past }

// stage is a judge of A, B and C, who tries once, with what it looks at.
type stage struct {
	*Judge
	cluster *simredis.Cluster
}

func begin(t *testing.T, masters int, past Excuses) *stage {
	t.Helper()
	m, err := simredis.NewSimulator(func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	cluster := m.NewCluster(m.Empty(), masters)
	setup := Setup{Driver: noEngine{cluster, past}, Key: lock.Key, Scope: strategy.Everybody, OnNodes: masters > 0, MaxOvertakes: 1}
	for i, name := range []string{"A", "B", "C"} {
		setup.Actors = append(setup.Actors, Actor{Name: name, Process: name, TriesOnce: i == tries, ActorState: alive{}})
	}
	return &stage{New(setup), cluster}
}

// do lets commands take effect.
func (s *stage) do(t *testing.T, deeds ...deed) {
	t.Helper()
	for _, d := range deeds {
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

// alive is an actor that sells.
type alive struct{}

func (alive) Started() bool  { return true }
func (alive) Paused() bool   { return false }
func (alive) Dead() bool     { return false }
func (alive) Finished() bool { return false }
func (alive) Err() error     { return nil }

// bs is what B does to A's lock.
func bs(symptom Symptom) []Detection {
	return []Detection{{anomaly.ForeignRelease, symptom, []any{"B", "A"}}}
}

// Whose the lock is follows from who writes its key, and what is done to a lock of somebody else's is found.
func TestHolderFollowsFromKeyWrites(t *testing.T) {
	for name, test := range map[string]struct {
		masters int
		deeds   []deed
		holder  int
		finds   []Detection
	}{
		"taken":               {deeds: []deed{does(a, 0, "SET", "1")}, holder: a},
		"given back":          {deeds: []deed{does(a, 0, "SET", "1"), does(a, 0, "DEL")}, holder: nobody},
		"ended by time":       {deeds: []deed{does(a, 0, "SET", "1"), does(nobodys, 0, "DEL")}, holder: nobody},
		"taken after its end": {deeds: []deed{does(a, 0, "SET", "1"), does(nobodys, 0, "DEL"), does(b, 0, "SET", "1")}, holder: b},
		"read":                {deeds: []deed{does(a, 0, "SET", "1"), does(b, 0, "GET")}, holder: a},
		"renewed":             {deeds: []deed{does(a, 0, "SET", "1", "EX", "10"), does(a, 0, "PEXPIRE", "15000")}, holder: a},
		"another's removed":   {deeds: []deed{does(a, 0, "SET", "1"), does(b, 0, "DEL")}, holder: nobody, finds: bs(ForeignRemoval)},
		"another's prolonged": {
			deeds: []deed{does(a, 0, "SET", "1", "EX", "10"), does(b, 0, "PEXPIRE", "15000")}, holder: a, finds: bs(ForeignRenewal),
		},
		"another's overwritten": {
			deeds: []deed{does(a, 0, "SET", "1", "EX", "10"), does(b, 0, "SET", "2")}, holder: b, finds: bs(ForeignOverwrite),
		},
		"handed to who waits": {deeds: []deed{does(a, 0, "SET", lock.Owner("A")), does(a, 0, "SET", lock.Owner("B")+":7")}, holder: b},
		"joined by another":   {deeds: []deed{does(a, 0, "RPUSH", lock.Owner("A")), does(b, 0, "RPUSH", lock.Owner("B"))}, holder: a},
		"left to the next": {
			deeds: []deed{
				does(a, 0, "RPUSH", lock.Owner("A")), does(b, 0, "RPUSH", lock.Owner("B")),
				does(a, 0, "LREM", "1", lock.Owner("A")),
			},
			holder: b,
		},
		"left by the next": {
			deeds: []deed{
				does(a, 0, "RPUSH", lock.Owner("A")), does(b, 0, "RPUSH", lock.Owner("B")),
				does(b, 0, "LREM", "1", lock.Owner("B")),
			},
			holder: a,
		},
		"thrown out of it": {
			deeds: []deed{
				does(a, 0, "RPUSH", lock.Owner("A")), does(a, 0, "PEXPIRE", "15000"), does(b, 0, "RPUSH", lock.Owner("B")),
				does(b, 0, "LREM", "1", lock.Owner("A")),
			},
			holder: b, finds: bs(ForeignOverwrite),
		},
		"joined in a sorted set": {
			deeds: []deed{does(a, 0, "ZADD", "2", lock.Owner("A")), does(b, 0, "ZADD", "1", lock.Owner("B"))}, holder: a,
		},
		"thrown out of a sorted set": {
			deeds: []deed{
				does(a, 0, "ZADD", "2", lock.Owner("A")), does(a, 0, "PEXPIRE", "15000"), does(b, 0, "ZADD", "1", lock.Owner("B")),
				does(b, 0, "ZREM", lock.Owner("A")),
			},
			holder: b, finds: bs(ForeignOverwrite),
		},
		"counters in a hash": {deeds: []deed{does(a, 0, "HINCRBY", "next", "1"), does(b, 0, "HINCRBY", "next", "1")}, holder: nobody},
		"its own, with an attempt": {
			deeds: []deed{does(a, 0, "SET", lock.Owner("A")+":1"), does(a, 0, "SET", lock.Owner("A")+":2")}, holder: a,
		},
		"a minority": {masters: 3, deeds: []deed{does(a, 1, "SET", "1")}, holder: nobody},
		"a majority": {masters: 3, deeds: []deed{does(a, 1, "SET", "1"), does(b, 2, "SET", "1"), does(a, 3, "SET", "1")}, holder: a},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, test.masters, Excuses{})
			s.RecordAsk(a, lock.Owner("A"))
			s.RecordAsk(b, lock.Owner("B"))
			s.do(t, test.deeds...)
			if s.Holder() != test.holder || !reflect.DeepEqual(s.Detected(), test.finds) {
				t.Errorf("it is %d's, found %v; want %d's, %v", s.Holder(), s.Detected(), test.holder, test.finds)
			}
		})
	}
}

// Where a number in the key has become the next one, or the one before, others count in it: nothing there says whose the lock is.
func TestCountedKeyHasNoHolder(t *testing.T) {
	for name, test := range map[string]struct {
		was, is string
		expiry  []string // of what is written over it
		counts  bool
	}{
		"the next one":             {was: "1", is: "2", expiry: []string{"KEEPTTL"}, counts: true},
		"the one before":           {was: "10", is: "9", expiry: []string{"KEEPTTL"}, counts: true},
		"beside words":             {was: "1 held, 9 wait", is: "1 held, 10 wait", expiry: []string{"KEEPTTL"}, counts: true},
		"two numbers":              {was: "1 held, 9 wait", is: "2 held, 8 wait", expiry: []string{"KEEPTTL"}, counts: true},
		"the one after the next":   {was: "1", is: "3", expiry: []string{"KEEPTTL"}},
		"other words":              {was: "1 held", is: "2 wait", expiry: []string{"KEEPTTL"}},
		"one number more":          {was: "1 held", is: "1 held 1", expiry: []string{"KEEPTTL"}},
		"with another expiry":      {was: "1", is: "2", expiry: []string{"EX", "20"}},
		"without an expiry":        {was: "1", is: "2"},
		"the same":                 {was: "1", is: "1", expiry: []string{"EX", "20"}},
		"larger than any of Redis": {was: "9223372036854775807", is: "9223372036854775808", expiry: []string{"KEEPTTL"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, 0, Excuses{})
			s.do(t, does(a, 0, "SET", test.was, "EX", "10"))
			s.RecordEntry(a, lent{})
			s.do(t, does(b, 0, "SET", append([]string{test.is}, test.expiry...)...))
			if unjudged := slices.Contains(s.Unjudged(), anomaly.ForeignRelease); unjudged != test.counts || (len(s.Detected()) == 0) != test.counts {
				t.Errorf("unjudged %q, found %v; want it to count: %t", s.Unjudged(), s.Detected(), test.counts)
			}
			if test.counts && s.Holder() != nobody {
				t.Errorf("it is %d's", s.Holder())
			}
		})
	}
}
