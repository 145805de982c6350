package checker

import (
	"reflect"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
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
type noEngine struct{ *simredis.Cluster }

func (noEngine) Now() time.Duration                               { return 0 }
func (noEngine) Past() Past                                       { return Past{} }
func (noEngine) Obtainable([]*simredis.State, time.Duration) bool { return false }

// alive is an actor that sells.
type alive struct{}

func (alive) Started() bool  { return true }
func (alive) Paused() bool   { return false }
func (alive) Dead() bool     { return false }
func (alive) Finished() bool { return false }
func (alive) Err() error     { return nil }

// bs is what B does to A's lock.
func bs(how How) []Finding { return []Finding{{anomaly.ForeignRelease, how, []any{"B", "A"}}} }

// Whose the lock is follows from who writes its key, and what is done to a lock of somebody else's is found.
func TestWhoseTheLockIs(t *testing.T) {
	for name, test := range map[string]struct {
		masters int
		deeds   []deed
		holder  int
		finds   []Finding
	}{
		"taken":               {0, []deed{does(a, 0, "SET", "1")}, a, nil},
		"given back":          {0, []deed{does(a, 0, "SET", "1"), does(a, 0, "DEL")}, nobody, nil},
		"ended by time":       {0, []deed{does(a, 0, "SET", "1"), does(nobodys, 0, "DEL")}, nobody, nil},
		"taken after its end": {0, []deed{does(a, 0, "SET", "1"), does(nobodys, 0, "DEL"), does(b, 0, "SET", "1")}, b, nil},
		"read":                {0, []deed{does(a, 0, "SET", "1"), does(b, 0, "GET")}, a, nil},
		"renewed":             {0, []deed{does(a, 0, "SET", "1", "EX", "10"), does(a, 0, "PEXPIRE", "15000")}, a, nil},
		"another's removed":   {0, []deed{does(a, 0, "SET", "1"), does(b, 0, "DEL")}, nobody, bs(Removes)},
		"another's prolonged": {
			0, []deed{does(a, 0, "SET", "1", "EX", "10"), does(b, 0, "PEXPIRE", "15000")}, a, bs(Prolongs),
		},
		"another's overwritten": {
			0, []deed{does(a, 0, "SET", "1", "EX", "10"), does(b, 0, "SET", "2")}, b, bs(Overwrites),
		},
		"handed to who waits": {0, []deed{does(a, 0, "SET", lock.Owner("A")), does(a, 0, "SET", lock.Owner("B")+":7")}, b, nil},
		"joined by another": {
			0, []deed{does(a, 0, "RPUSH", lock.Owner("A")), does(b, 0, "RPUSH", lock.Owner("B"))}, a, nil,
		},
		"left to the next": {
			0, []deed{
				does(a, 0, "RPUSH", lock.Owner("A")), does(b, 0, "RPUSH", lock.Owner("B")), does(a, 0, "LREM", "1", lock.Owner("A")),
			}, b, nil,
		},
		"left by the next": {
			0, []deed{
				does(a, 0, "RPUSH", lock.Owner("A")), does(b, 0, "RPUSH", lock.Owner("B")), does(b, 0, "LREM", "1", lock.Owner("B")),
			}, a, nil,
		},
		"thrown out of it": {
			0, []deed{
				does(a, 0, "RPUSH", lock.Owner("A")), does(a, 0, "PEXPIRE", "15000"),
				does(b, 0, "RPUSH", lock.Owner("B")), does(b, 0, "LREM", "1", lock.Owner("A")),
			}, b, bs(Overwrites),
		},
		"joined in a sorted set": {
			0, []deed{does(a, 0, "ZADD", "2", lock.Owner("A")), does(b, 0, "ZADD", "1", lock.Owner("B"))}, a, nil,
		},
		"thrown out of a sorted set": {
			0, []deed{
				does(a, 0, "ZADD", "2", lock.Owner("A")), does(a, 0, "PEXPIRE", "15000"),
				does(b, 0, "ZADD", "1", lock.Owner("B")), does(b, 0, "ZREM", lock.Owner("A")),
			}, b, bs(Overwrites),
		},
		"counters in a hash": {0, []deed{does(a, 0, "HINCRBY", "next", "1"), does(b, 0, "HINCRBY", "next", "1")}, nobody, nil},
		"a count":            {0, []deed{does(a, 0, "INCR"), does(b, 0, "INCR"), does(b, 0, "DECR")}, nobody, nil},
		"a count in a text": {
			0, []deed{does(a, 0, "SET", "1 held, 9 wait", "EX", "10"), does(b, 0, "SET", "1 held, 10 wait", "KEEPTTL")}, nobody, nil,
		},
		"a count without an expiry": {
			0, []deed{does(a, 0, "SET", "1 held, 9 wait", "EX", "10"), does(b, 0, "SET", "1 held, 10 wait")}, b,
			bs(Overwrites),
		},
		"two numbers": {
			0, []deed{does(a, 0, "SET", "1 held, 9 wait", "EX", "10"), does(b, 0, "SET", "2 held, 10 wait", "KEEPTTL")}, b,
			bs(Overwrites),
		},
		"its own, with an attempt": {0, []deed{does(a, 0, "SET", lock.Owner("A")+":1"), does(a, 0, "SET", lock.Owner("A")+":2")}, a, nil},
		"a minority":               {3, []deed{does(a, 1, "SET", "1")}, nobody, nil},
		"a majority":               {3, []deed{does(a, 1, "SET", "1"), does(b, 2, "SET", "1"), does(a, 3, "SET", "1")}, a, nil},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := simredis.NewMemory("a run")
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			cluster := m.NewCluster(m.Empty(), test.masters)
			c := New(Setup{
				Driver: noEngine{cluster}, Key: lock.Key, OnNodes: test.masters > 0,
				Actors: []Actor{{Name: "A", Process: "A", Life: alive{}}, {Name: "B", Process: "B", Life: alive{}}},
			})
			c.Ask(a, lock.Owner("A"))
			c.Ask(b, lock.Owner("B"))
			for _, d := range test.deeds {
				s := cluster.Servers()[d.server]
				answer, err := cluster.Would(s, 0, cluster.Command([]byte(proto.Strings(d.command...))))
				if err != nil {
					t.Fatal(err)
				}
				before := s.Holds
				cluster.Become(s, answer.Then)
				c.Change(Change{Server: d.server, Before: before, After: s.Holds}, d.by)
			}
			if c.Holder() != test.holder || !reflect.DeepEqual(c.Found(), test.finds) {
				t.Errorf("it is %d's, found %v; want %d's, %v", c.Holder(), c.Found(), test.holder, test.finds)
			}
		})
	}
}
