// Package evolution is the table of strategies, in the order of the story. It is the one place that knows them all.
package evolution

import (
	"fmt"
	"strings"

	"lockstep/internal/contrast"
	"lockstep/internal/lock"
	"lockstep/internal/lockv1"
	"lockstep/internal/lockv10"
	"lockstep/internal/lockv2"
	"lockstep/internal/lockv3"
	"lockstep/internal/lockv4"
	"lockstep/internal/lockv5"
	"lockstep/internal/lockv6"
	"lockstep/internal/lockv7"
	"lockstep/internal/lockv8"
	"lockstep/internal/lockv9"
	"lockstep/internal/redlock"
	"lockstep/internal/strategy"
)

// Table lists every strategy.
func Table() []strategy.Strategy {
	return []strategy.Strategy{
		{
			Name: "v0", Title: "no lock",
			Adds:         "nothing: GET, think, SET",
			Costs:        "nothing",
			StillBroken:  "lost updates, oversell",
			Scope:        strategy.Nobody,
			Capabilities: strategy.Capabilities{Reentrant: true},
			New:          func(p strategy.Parts) lock.Locker { return contrast.NewNone(p.Options) },
		},
		{
			Name: "v1", Title: "SET NX, DEL",
			Adds:        "a key that can be set only once; waiters poll every 20 ms",
			Costs:       "2 commands per sale, plus one per poll",
			StillBroken: "a holder that dies blocks everybody for ever",
			New:         func(p strategy.Parts) lock.Locker { return lockv1.New(p.Client, p.Options) },
		},
		{
			Name: "v2", Title: "with an expiry",
			Adds:         "an expiry, in the same command",
			Costs:        "as v1; an expiry to choose",
			StillBroken:  "an overdue holder deletes the next one's lock",
			Capabilities: strategy.Capabilities{Expires: true, ExpiresAtOnce: true},
			New:          func(p strategy.Parts) lock.Locker { return lockv2.New(p.Client, p.Options) },
		},
		{
			Name: "v3", Title: "with an owner",
			Adds:         "the value is the owner; GET, compare, DEL",
			Costs:        "3 commands per sale, plus one per poll",
			StillBroken:  "between the GET and the DEL the lock can change hands",
			Capabilities: strategy.Capabilities{Expires: true, ExpiresAtOnce: true, ChecksOwner: true, TakesBack: true},
			New:          func(p strategy.Parts) lock.Locker { return lockv3.New(p.Client, p.Options) },
		},
		{
			Name: "v4", Title: "compare-and-delete in Lua",
			Adds:         "comparing and deleting in one script",
			Costs:        "2 commands per sale (one is a script), plus one per poll",
			StillBroken:  "a nested call waits for itself for ever",
			Capabilities: strategy.Capabilities{Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, TakesBack: true},
			New:          func(p strategy.Parts) lock.Locker { return lockv4.New(p.Client, p.Options) },
		},
		{
			Name: "v5", Title: "reentrant hash",
			Adds:        "owner and count in a hash: nested calls",
			Costs:       "2 scripts per sale, plus one per poll",
			StillBroken: "work longer than the expiry: two holders",
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				CountsInRedis: true,
			},
			New: func(p strategy.Parts) lock.Locker { return lockv5.New(p.Client, p.Options) },
		},
		{
			Name: "v6", Title: "renewed",
			Adds:        "renewal while the work runs; losing the lock cancels the work",
			Costs:       "as v5; a goroutine per lock, a script every third of the expiry",
			StillBroken: "a paused process writes late; waiters poll: a storm of commands, and starvation; failover",
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				CountsInRedis: true, Renewed: true, TakesBack: true,
			},
			New: func(p strategy.Parts) lock.Locker { return lockv6.New(p.Client, p.Options) },
		},
		{
			Name: "v7", Title: "fenced",
			Adds:        "v6, and a token that grows with every holder; the store refuses a smaller one than it has seen",
			Costs:       "as v6; the store looks at the token at every read and write",
			StillBroken: "waiters poll: a storm of commands, starvation, no order; failover",
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				CountsInRedis: true, Renewed: true, TakesBack: true, Fenced: true,
			},
			New: func(p strategy.Parts) lock.Locker { return lockv7.New(p.Client, p.Options) },
		},
		{
			Name: "v8", Title: "in line",
			Adds:        "v7, and a queue inside the process: one contender per process, which hands the lock on a bounded number of times",
			Costs:       "2 scripts when nobody waits, far below 1 per sale when many do; a pause at the hand-off limit",
			StillBroken: "between processes: polling, in no order; failover",
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				Renewed: true, TakesBack: true, Fenced: true, InLine: true,
			},
			New: func(p strategy.Parts) lock.Locker { return lockv8.New(p.Client, cohort(p)) },
		},
		{
			Name: "v9", Title: "handed over",
			Adds:        "v8, and a queue of processes in Redis: a release hands the lock to the first that lives, which is told by a message",
			Costs:       "as v8 without the pause; a subscription per process, from its first wait on",
			StillBroken: "a failover forgets the lock; a buyer alone pays two round trips for a lock that nobody else wants",
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				Renewed: true, TakesBack: true, Fenced: true, InLine: true, InOrder: true, HandsOver: true,
			},
			New: func(p strategy.Parts) lock.Locker {
				return lockv9.New(p.Client, lockv9.Options{CohortOptions: cohort(p), Notifier: p.Notifier})
			},
		},
		{
			Name: "v10", Title: "cached",
			Adds:        "v9, and a process keeps a lock that nobody waits for until another asks for it: its next sale costs no lock command",
			Costs:       "the first sale of another process waits for one message more; a subscription per process",
			StillBroken: "a failover forgets the lock; the others wait for a keeper that died, as for any holder",
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				Renewed: true, TakesBack: true, Fenced: true, InLine: true, InOrder: true, HandsOver: true, Cached: true,
			},
			New: func(p strategy.Parts) lock.Locker {
				return lockv10.New(p.Client, lockv10.Options{CohortOptions: cohort(p), Notifier: p.Notifier})
			},
		},
		{
			Name: "redlock", Title: "on a majority",
			Adds:        "a branch off v8: a majority of N independent masters instead of one; a minority may fail",
			Costs:       "every command goes to all of them; processes poll",
			StillBroken: "no fencing, no order between processes; a node that restarts empty; clocks",
			OnNodes:     true,
			Capabilities: strategy.Capabilities{
				Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, Reentrant: true,
				Renewed: true, InLine: true,
			},
			New: func(p strategy.Parts) lock.Locker { return redlock.New(p.Nodes, cohort(p)) },
		},
		{
			Name: "local", Title: "a queue in one process",
			Adds:        "first come, first served, without Redis",
			Costs:       "no command",
			StillBroken: "right with one replica, wrong with two",
			Scope:       strategy.Process, Capabilities: strategy.Capabilities{InOrder: true},
			New: func(p strategy.Parts) lock.Locker { return contrast.NewLocal(p.Options) },
		},
		{
			Name: "atomic", Title: "one script, no lock",
			Adds:        "reading and writing in one script, so that nothing comes between",
			Costs:       "1 script per sale",
			StillBroken: "all work of a sale must fit into the script; after a lost reply the buyer is in doubt",
			Scope:       strategy.Nobody, Update: strategy.Atomic,
			New: func(p strategy.Parts) lock.Locker { return contrast.NewNone(p.Options) },
		},
		{
			Name: "optimistic", Title: "WATCH, no lock",
			Adds:        "the SET is refused if the stock has changed since the GET; then the sale starts again",
			Costs:       "3 round trips per attempt; more buyers need more attempts",
			StillBroken: "wasted attempts; no order, so the slow lose to the quick",
			Scope:       strategy.Nobody, Update: strategy.CheckAndSet,
			New: func(p strategy.Parts) lock.Locker { return contrast.NewNone(p.Options) },
		},
		{
			Name: "late-commit", Title: "written after the unlock",
			Adds:         "v4's lock inside a transaction: the sale writes once it has unlocked, as the commit comes last",
			Costs:        "as v4",
			StillBroken:  "lost updates, though nothing fails: the next holder reads before the write",
			Update:       strategy.LateCommit,
			Capabilities: strategy.Capabilities{Expires: true, ExpiresAtOnce: true, ChecksOwner: true, ChecksAtomically: true, TakesBack: true},
			New:          func(p strategy.Parts) lock.Locker { return lockv4.New(p.Client, p.Options) },
		},
		{
			Name: "setnx-expire", Title: "SETNX, then EXPIRE",
			Adds:         "an expiry, by a second command",
			Costs:        "3 commands per sale, plus one per poll",
			StillBroken:  "a holder that dies between the two leaves a lock for ever",
			Capabilities: strategy.Capabilities{Expires: true},
			New:          func(p strategy.Parts) lock.Locker { return contrast.NewSetNXExpire(p.Client, p.Options) },
		},
		{
			Name: "lua-setnx", Title: "SETNX and EXPIRE in Lua",
			Adds:         "the two commands as one script",
			Costs:        "2 commands per sale (one is a script), plus one per poll",
			StillBroken:  "an overdue holder deletes the next one's lock, as v2's",
			Capabilities: strategy.Capabilities{Expires: true, ExpiresAtOnce: true},
			New:          func(p strategy.Parts) lock.Locker { return contrast.NewLuaSetNX(p.Client, p.Options) },
		},
		{
			Name: "getset", Title: "SETNX, GETSET",
			Adds:         "an expiry that is the value: a client that finds it in the past takes the lock over",
			Costs:        "2 commands per sale, plus two per poll",
			StillBroken:  "it needs equal clocks; no owner, so anybody can release",
			Capabilities: strategy.Capabilities{Expires: true},
			New:          func(p strategy.Parts) lock.Locker { return contrast.NewGetSet(p.Client, p.Options) },
		},
		{
			Name: "set-expire", Title: "SET, then EXPIRE",
			Adds:         "nothing: there is no NX",
			Costs:        "3 commands per sale",
			StillBroken:  "everybody gets the lock",
			Capabilities: strategy.Capabilities{Open: true},
			New:          func(p strategy.Parts) lock.Locker { return contrast.NewSetExpire(p.Client, p.Options) },
		},
		{
			Name: "setex", Title: "SETEX",
			Adds:         "nothing: there is no NX",
			Costs:        "2 commands per sale",
			StillBroken:  "everybody gets the lock",
			Capabilities: strategy.Capabilities{Open: true},
			New:          func(p strategy.Parts) lock.Locker { return contrast.NewSetEX(p.Client, p.Options) },
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
var ErrUnknown = lock.WithCode("unknown_lock", "there is no such lock")

// Find gives the strategy of that name, or ErrUnknown.
func Find(name string) (strategy.Strategy, error) {
	for _, s := range Table() {
		if s.Name == name {
			return s, nil
		}
	}
	return strategy.Strategy{}, fmt.Errorf("%w: %q; there are %s", ErrUnknown, name, strings.Join(Names(), ", "))
}

// cohort gives the parts that a lock of whole processes takes.
func cohort(p strategy.Parts) lock.CohortOptions {
	return lock.CohortOptions{Options: p.Options, Process: p.Process, HandOffLimit: p.HandOffLimit, Rand: p.Rand}
}
