package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"lockstep/internal/cluster"
	"lockstep/internal/fault"
	"lockstep/internal/lock"
)

// Kind is the name of a kind of fault.
type Kind string

// effect describes a kind of fault: how to inject it, and what it may do to sales, locks and ledgers.
type effect struct {
	kind  Kind
	scope faultScope
	lasts []time.Duration // durations, used in turn round by round
	do    func(ctx context.Context, w *world, f *Injected) error

	byName   bool // excluded by default: it destroys ledgers, ends runs, or takes the lock away
	stops    bool // the holder, its network or Redis is suspended, so its lock may expire
	late     bool // a sale's write comes late, while its lock is renewed, unless that stands still, too
	takes    bool // the lock is deleted under its holder
	orphans  bool // a lock may be left behind until it expires
	destroys bool // the ledgers are destroyed
	drops    bool // the ledgers of earlier runs may be lost
	forgets  bool // orders may be lost, so the ledgers are read before the fault
}

// faultScope says which replicas a fault hits.
type faultScope int

const (
	everybody faultScope = iota
	one                  // one replica; the others may have to wait for it
	oneOnly              // one replica; the others go on selling before the fault ends
)

const (
	shorter   = expiry * 2 / 5 // than the lock's expiry
	longer    = 2 * expiry
	heartbeat = 5 * time.Second // a replica without a sign of life for longer is forgotten, with its sales
)

// effects returns the effects of all kinds.
func effects() []effect {
	atOnce, second, outlasting := []time.Duration{0}, []time.Duration{time.Second}, []time.Duration{longer, shorter}
	hang, outage := []time.Duration{5 * time.Second}, []time.Duration{500 * time.Millisecond, 2 * time.Second}
	return []effect{
		{kind: "kill-replica", scope: oneOnly, lasts: atOnce, do: func(_ context.Context, w *world, f *Injected) error {
			return w.cluster.Do(f.Victim, "kill")
		}},
		{kind: "stop-replica", scope: oneOnly, stops: true, lasts: []time.Duration{longer, shorter, 4 * expiry, heartbeat + time.Second},
			do: func(ctx context.Context, w *world, f *Injected) error {
				err := errors.Join(w.cluster.Do(f.Victim, "pause"), wait(ctx, f.For))
				_ = w.cluster.Do(f.Victim, "resume") // the front may have given it up, and it may have been killed
				return err
			}},
		// a replica cannot reach Redis: its connections end
		{kind: "cut-replica", scope: oneOnly, lasts: outlasting, do: func(ctx context.Context, w *world, f *Injected) error {
			w.proxies[f.Replica].Cut()
			defer w.proxies[f.Replica].Mend()
			return wait(ctx, f.For)
		}},
		// from a sale's write on, no command of a replica reaches Redis; later all of them do
		{kind: "stall-replica", scope: oneOnly, stops: true, late: true, lasts: outlasting,
			do: func(ctx context.Context, w *world, f *Injected) error {
				return w.holdOne(ctx, f, fault.IsWrite, fault.Hold, func() error {
					w.proxies[f.Replica].Hang(f.For)
					return wait(ctx, f.For)
				})
			}},
		{kind: "late-write", scope: one, late: true, lasts: outlasting, do: func(ctx context.Context, w *world, f *Injected) error {
			return w.holdOne(ctx, f, fault.IsWrite, fault.Hold, func() error { return wait(ctx, f.For) })
		}},
		// the lock is deleted while the reply to its holder's read is held back
		{kind: "stolen-lock", scope: one, late: true, lasts: []time.Duration{longer}, do: func(ctx context.Context, w *world, f *Injected) error {
			return w.holdOne(ctx, f, fault.IsRead, fault.HoldReply, func() error {
				return errors.Join(w.client.Del(ctx, lock.Key).Err(), wait(ctx, f.For))
			})
		}},
		{kind: "lose-reply", scope: one, orphans: true, lasts: second, do: func(ctx context.Context, w *world, f *Injected) error {
			return w.lose(ctx, f, fault.LoseReply)
		}},
		{kind: "lose-request", scope: one, orphans: true, lasts: second, do: func(ctx context.Context, w *world, f *Injected) error {
			return w.lose(ctx, f, fault.LoseRequest)
		}},
		{kind: "buyers-leave", orphans: true, lasts: second, do: func(ctx context.Context, w *world, f *Injected) error {
			return f.repeat(ctx, func() (int64, error) { return w.crowd.Leave(), nil })
		}},
		{kind: "hang-redis", stops: true, lasts: hang, do: func(ctx context.Context, w *world, f *Injected) error {
			redis := w.redis.PID()
			return errors.Join(cluster.Pause(redis), wait(ctx, f.For), cluster.Resume(redis))
		}},
		// Redis takes the commands, and answers later
		{kind: "pause-redis", stops: true, lasts: hang, do: func(ctx context.Context, w *world, f *Injected) error {
			return errors.Join(w.client.Do(ctx, "CLIENT", "PAUSE", f.For.Milliseconds(), "ALL").Err(), wait(ctx, f.For))
		}},
		// Redis is killed, and starts again with what it wrote
		{kind: "restart-redis", lasts: outage, do: func(ctx context.Context, w *world, f *Injected) error {
			return w.restart(ctx, f.For, func() error { return nil })
		}},
		{kind: "empty-redis", byName: true, destroys: true, forgets: true, lasts: outage,
			do: func(ctx context.Context, w *world, f *Injected) error { return w.restart(ctx, f.For, w.redis.Clear) }},
		{kind: "oom", byName: true, drops: true, forgets: true, lasts: []time.Duration{2 * time.Second, 4 * time.Second},
			do: func(ctx context.Context, w *world, f *Injected) error {
				limit := func(bytes string) error { return w.client.ConfigSet(ctx, "maxmemory", bytes).Err() }
				return errors.Join(limit("1"), wait(ctx, f.For), limit("0"))
			}},
		{kind: "flushall", byName: true, destroys: true, forgets: true, lasts: atOnce,
			do: func(ctx context.Context, w *world, _ *Injected) error { return w.client.FlushAll(ctx).Err() }},
		{kind: "delete-lock", byName: true, takes: true, lasts: second, do: func(ctx context.Context, w *world, f *Injected) error {
			return f.repeat(ctx, func() (int64, error) { return w.client.Del(ctx, lock.Key).Result() })
		}},
		{kind: "cut-clients", byName: true, lasts: second, do: func(ctx context.Context, w *world, f *Injected) error {
			return f.repeat(ctx, func() (int64, error) { return w.client.Do(ctx, "CLIENT", "KILL", "TYPE", "normal").Int64() })
		}},
		// PUT /inventory, just before a Redis that hung goes on
		{kind: "new-run", byName: true, stops: true, forgets: true, lasts: []time.Duration{heartbeat + time.Second}, do: newRunInHang},
	}
}

// Kinds returns all kinds of faults.
func Kinds() (all []Kind) {
	for _, e := range effects() {
		all = append(all, e.kind)
	}
	return all
}

// ParseKinds parses a comma-separated list of kinds. An empty list means all kinds that cannot lose orders. It returns ErrNoFault for an
// unknown kind.
func ParseKinds(text string) ([]Kind, error) {
	if text == "" {
		return slices.DeleteFunc(Kinds(), func(k Kind) bool { return k.effect().byName }), nil
	}
	var kinds []Kind
	for name := range strings.SplitSeq(text, ",") {
		if !slices.Contains(Kinds(), Kind(name)) {
			return nil, fmt.Errorf("%w: %q; want some of %v", ErrNoFault, name, Kinds())
		}
		kinds = append(kinds, Kind(name))
	}
	return kinds, nil
}

func (k Kind) effect() effect {
	all := effects()
	if i := slices.IndexFunc(all, func(e effect) bool { return e.kind == k }); i >= 0 {
		return all[i]
	}
	return effect{}
}

// Fault is a planned fault.
type Fault struct {
	Kind    Kind
	Replica int           // 0-based index of the replica, for faults of one replica
	For     time.Duration // duration; 0: momentary
}

const (
	warmUp = 2 * time.Second // time at the start whose sales are not judged
	quiet  = 3 * time.Second // fault-free time before the first fault, to measure the rate of sales
	rest   = 4 * time.Second // time after each fault in which sales must recover
)

// NewPlan returns the faults of a session that takes about total. There is at least one fault, and each kind occurs once before any is
// repeated. The same arguments give the same plan.
func NewPlan(seed uint64, total time.Duration, kinds []Kind, replicas int) []Fault {
	random := rand.New(rand.NewPCG(seed, 0))
	var plan []Fault
	rounds := 0
	for left := total - warmUp - quiet; ; rounds++ {
		for _, i := range random.Perm(len(kinds)) {
			choices := kinds[i].effect().lasts
			fault := Fault{Kind: kinds[i], Replica: random.IntN(replicas), For: choices[rounds%len(choices)]}
			left -= fault.For + rest
			if left < 0 && len(plan) > 0 {
				return plan
			}
			plan = append(plan, fault)
		}
	}
}

// opens reports whether updates may be lost by this fault under a lock that is not fenced: the lock ends while its holder goes on. A lock
// that is renewed every third of its expiry may have two thirds left when the fault begins; a renewal that goes on keeps it, or sees that
// it is gone.
func (f Fault) opens(lock string) bool {
	its := f.Kind.effect()
	return its.takes || (its.stops || its.late && !renewed(lock)) && f.For > expiry*2/3
}

// canLose reports whether an update must be lost by this fault: a sale's write comes after the expiry of its lock, and others have sold
// meanwhile.
func (f Fault) canLose(lock string) bool {
	return f.Kind.effect().late && !fenced(lock) && f.opens(lock) && f.For >= 2*expiry
}
