// Package evolution is the table of strategies, in the order of the story. It is the one place that knows them all.
package evolution

import (
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/contrast"
	"lockstep/internal/lock"
	"lockstep/internal/lockv1"
	"lockstep/internal/lockv2"
	"lockstep/internal/lockv3"
	"lockstep/internal/lockv4"
	"lockstep/internal/lockv5"
	"lockstep/internal/lockv6"
	"lockstep/internal/lockv7"
	"lockstep/internal/lockv8"
	"lockstep/internal/lockv9"
	"lockstep/internal/service"
)

// Strategy is one row of the table.
type Strategy struct {
	Name        string
	Title       string
	Adds        string
	Costs       string
	StillBroken string
	Scope       Scope
	Way         service.Way // how a sale is written under it
	Traits      Traits
	New         func(redis.Cmdable, lock.Options) lock.Locker
	NewOnNodes  func([]redis.Cmdable, lock.Options) lock.Locker // instead of New, for a lock on several masters
}

// OnNodes reports whether the lock is on several masters, apart from the stock's Redis.
func (s Strategy) OnNodes() bool { return s.NewOnNodes != nil }

// ErrNoNodes means that a lock needs masters that there are not.
var ErrNoNodes = errors.New("there are no nodes")

// Fits reports whether the lock can be made with so many nodes, or fails with ErrNoNodes.
func (s Strategy) Fits(nodes int) error {
	if s.OnNodes() && nodes == 0 {
		return fmt.Errorf("%w: %s is on several masters: name three or more by redis.redlock_addrs, or leave redis.addrs empty for embedded ones",
			ErrNoNodes, s.Name)
	}
	return nil
}

// Locker makes the lock, in the stock's Redis or on the nodes.
func (s Strategy) Locker(one redis.Cmdable, nodes []redis.Cmdable, opts lock.Options) lock.Locker {
	if s.OnNodes() {
		return s.NewOnNodes(nodes, opts)
	}
	return s.New(one, opts)
}

// Scope is whom a lock promises to keep out.
type Scope int

// The scopes.
const (
	Everybody Scope = iota // every process that asks the same Redis
	Process                // the other sales of the same process
	Nobody                 // it is no lock
)

// Table lists every strategy.
func Table() []Strategy {
	return []Strategy{
		{
			Name: "v0", Title: "no lock",
			Adds:        "nothing: GET, think, SET",
			Costs:       "nothing",
			StillBroken: "lost updates, oversell",
			Scope:       Nobody,
			Traits:      Traits{Reentrant: true},
			New:         func(_ redis.Cmdable, opts lock.Options) lock.Locker { return contrast.NewNone(opts) },
		},
		{
			Name: "v1", Title: "SET NX, DEL",
			Adds:        "a key that can be set only once; waiters poll every 20 ms",
			Costs:       "2 commands a sale, plus one per poll",
			StillBroken: "a holder that dies blocks everybody forever",
			New:         func(c redis.Cmdable, opts lock.Options) lock.Locker { return lockv1.New(c, opts) },
		},
		{
			Name: "v2", Title: "with an expiry",
			Adds:        "an expiry, in the same command",
			Costs:       "as v1; an expiry to choose",
			StillBroken: "an overdue holder deletes the next one's lock",
			Traits:      Traits{Expires: true, ExpiresAtOnce: true},
			New:         func(c redis.Cmdable, opts lock.Options) lock.Locker { return lockv2.New(c, opts) },
		},
		{
			Name: "v3", Title: "with an owner",
			Adds:        "the value is the owner; GET, compare, DEL",
			Costs:       "3 commands a sale, plus one per poll",
			StillBroken: "between the GET and the DEL the lock can change hands",
			Traits:      Traits{Expires: true, ExpiresAtOnce: true, ChecksOwner: true, TakesBack: true},
			New:         func(c redis.Cmdable, opts lock.Options) lock.Locker { return lockv3.New(c, opts) },
		},
		{
			Name: "v4", Title: "compare-and-delete in Lua",
			Adds:        "comparing and deleting in one script",
			Costs:       "2 commands a sale (one is a script), plus one per poll",
			StillBroken: "a nested call waits for itself forever",
			Traits:      Traits{Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, TakesBack: true},
			New:         func(c redis.Cmdable, opts lock.Options) lock.Locker { return lockv4.New(c, opts) },
		},
		{
			Name: "v5", Title: "reentrant hash",
			Adds:        "owner and count in a hash: nested calls",
			Costs:       "2 scripts a sale, plus one per poll",
			StillBroken: "work longer than the expiry: two holders",
			Traits: Traits{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				CountsInRedis: true,
			},
			New: func(c redis.Cmdable, opts lock.Options) lock.Locker { return lockv5.New(c, opts) },
		},
		{
			Name: "v6", Title: "renewed",
			Adds:        "renewal while the work runs; losing the lock cancels the work",
			Costs:       "as v5; a goroutine a lock, a script every third of the expiry",
			StillBroken: "waiters poll: a storm of commands, and starvation; a paused process; failover",
			Traits: Traits{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				CountsInRedis: true, Renewed: true, TakesBack: true,
			},
			New: func(c redis.Cmdable, opts lock.Options) lock.Locker { return lockv6.New(c, opts) },
		},
		{
			Name: "v7", Title: "handed over",
			Adds:        "queues, here and in Redis: the lock is handed to the next in turn, who is woken; a process passes it along inside",
			Costs:       "2 scripts when nobody waits, far below 1 a sale when many do; a subscription a process",
			StillBroken: "a process paused past its expiry still writes",
			Traits: Traits{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				Renewed: true, TakesBack: true,
			},
			New: func(c redis.Cmdable, opts lock.Options) lock.Locker { return lockv7.New(c, opts) },
		},
		{
			Name: "v8", Title: "fenced",
			Adds:        "a token that grows from sale to sale; the store refuses a smaller one than it has seen",
			Costs:       "as v7; the store looks at the token at every read and write",
			StillBroken: "one Redis: a failover forgets the lock",
			Traits: Traits{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				Renewed: true, TakesBack: true,
			},
			New: func(c redis.Cmdable, opts lock.Options) lock.Locker { return lockv8.New(c, opts) },
		},
		{
			Name: "v9", Title: "on a majority",
			Adds:        "Redlock: who has set the lock on most of five independent masters holds it; a minority may fail",
			Costs:       "every command goes to all of them; processes poll, in no order",
			StillBroken: "no fencing; a node that restarts empty; clocks",
			Traits: Traits{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				Renewed: true,
			},
			NewOnNodes: func(c []redis.Cmdable, opts lock.Options) lock.Locker { return lockv9.New(c, opts) },
		},
		{
			Name: "local", Title: "a queue in one process",
			Adds:        "first come, first served, without Redis",
			Costs:       "no command",
			StillBroken: "right with one replica, wrong with two",
			Scope:       Process,
			New:         func(_ redis.Cmdable, opts lock.Options) lock.Locker { return contrast.NewLocal(opts) },
		},
		{
			Name: "atomic", Title: "one script, no lock",
			Adds:        "looking and taking in one step, which leaves nothing to keep apart",
			Costs:       "1 script a sale",
			StillBroken: "all that a sale does must fit into the script; a reply that is lost leaves a buyer in doubt",
			Scope:       Nobody, Way: service.AtOnce,
			New: func(_ redis.Cmdable, opts lock.Options) lock.Locker { return contrast.NewNone(opts) },
		},
		{
			Name: "optimistic", Title: "WATCH, no lock",
			Adds:        "the SET is refused if the stock has changed since the GET; then all begins again",
			Costs:       "3 round trips a try; the more buyers, the more tries",
			StillBroken: "work that is thrown away; no order: the slow lose to the quick",
			Scope:       Nobody, Way: service.Watched,
			New: func(_ redis.Cmdable, opts lock.Options) lock.Locker { return contrast.NewNone(opts) },
		},
		{
			Name: "setnx-expire", Title: "SETNX, then EXPIRE",
			Adds:        "an expiry, by a second command",
			Costs:       "3 commands a sale, plus one per poll",
			StillBroken: "a holder that dies between the two leaves a lock forever",
			Traits:      Traits{Expires: true},
			New:         func(c redis.Cmdable, opts lock.Options) lock.Locker { return contrast.NewSetNXExpire(c, opts) },
		},
		{
			Name: "lua-setnx", Title: "SETNX and EXPIRE in Lua",
			Adds:        "the two commands as one script",
			Costs:       "2 commands a sale (one is a script), plus one per poll",
			StillBroken: "an overdue holder deletes the next one's lock, as v2's",
			Traits:      Traits{Expires: true, ExpiresAtOnce: true},
			New:         func(c redis.Cmdable, opts lock.Options) lock.Locker { return contrast.NewLuaSetNX(c, opts) },
		},
		{
			Name: "getset", Title: "SETNX, GETSET",
			Adds:        "an expiry that is the value: who finds it past takes the lock over",
			Costs:       "2 commands a sale, plus two per poll",
			StillBroken: "it needs equal clocks; no owner, so anybody can release",
			Traits:      Traits{Expires: true},
			New:         func(c redis.Cmdable, opts lock.Options) lock.Locker { return contrast.NewGetSet(c, opts) },
		},
		{
			Name: "set-expire", Title: "SET, then EXPIRE",
			Adds:        "nothing: there is no NX",
			Costs:       "3 commands a sale",
			StillBroken: "everybody gets the lock",
			Traits:      Traits{Open: true},
			New:         func(c redis.Cmdable, opts lock.Options) lock.Locker { return contrast.NewSetExpire(c, opts) },
		},
		{
			Name: "setex", Title: "SETEX",
			Adds:        "nothing: there is no NX",
			Costs:       "2 commands a sale",
			StillBroken: "everybody gets the lock",
			Traits:      Traits{Open: true},
			New:         func(c redis.Cmdable, opts lock.Options) lock.Locker { return contrast.NewSetEX(c, opts) },
		},
	}
}

// Names lists the names of the strategies.
func Names() []string {
	var names []string
	for _, s := range Table() {
		names = append(names, s.Name)
	}
	return names
}

// ErrUnknown means that a name is not in the table.
var ErrUnknown = errors.New("there is no such lock")

// Find gives the strategy of that name, or ErrUnknown.
func Find(name string) (Strategy, error) {
	for _, s := range Table() {
		if s.Name == name {
			return s, nil
		}
	}
	return Strategy{}, fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(Names(), ", "))
}
