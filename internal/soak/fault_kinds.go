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
	kind      Kind
	scope     faultScope
	durations []time.Duration // durations, used in turn round by round
	inject    func(ctx context.Context, w *testbed, f *Injected) error

	onlyByName      bool // excluded by default: it destroys ledgers, ends runs, or takes the lock away
	suspends        bool // the holder, its network or Redis is suspended, so its lock may expire
	delaysWrite     bool // a sale's write comes late, while its lock is renewed, unless that stands still, too
	deletesLock     bool // the lock is deleted under its holder
	leavesLock      bool // a lock may be left behind until it expires
	destroysLedgers bool // the ledgers are destroyed
	dropsOldLedgers bool // the ledgers of earlier runs may be lost
	losesOrders     bool // orders may be lost, so the ledgers are read before the fault
}

// faultScope says which replicas a fault hits.
type faultScope int

const (
	wholeShop          faultScope = iota
	oneBlockingReplica            // one replica; the others may have to wait for it
	oneReplica                    // one replica; the others go on selling before the fault ends
)

const (
	withinExpiry    = expiry * 2 / 5 // than the lock's expiry
	beyondExpiry    = 2 * expiry
	heartbeatExpiry = 5 * time.Second // a replica without a sign of life for longer is forgotten, with its sales
)

// effects returns the effects of all kinds.
func effects() []effect {
	momentary, oneSecond, outlastingOrNot := []time.Duration{0}, []time.Duration{time.Second}, []time.Duration{beyondExpiry, withinExpiry}
	hang, outage := []time.Duration{5 * time.Second}, []time.Duration{500 * time.Millisecond, 2 * time.Second}
	return []effect{
		{kind: "kill-replica", scope: oneReplica, durations: momentary, inject: func(_ context.Context, b *testbed, f *Injected) error {
			return b.cluster.Do(f.Victim, "kill")
		}},
		{kind: "stop-replica", scope: oneReplica, suspends: true, durations: []time.Duration{beyondExpiry, withinExpiry, 4 * expiry, heartbeatExpiry + time.Second},
			inject: func(ctx context.Context, b *testbed, f *Injected) error {
				err := errors.Join(b.cluster.Do(f.Victim, "pause"), sleep(ctx, f.For))
				_ = b.cluster.Do(f.Victim, "resume") // the front may have given it up, and it may have been killed
				return err
			}},
		// a replica cannot reach Redis: its connections end
		{kind: "cut-replica", scope: oneReplica, durations: outlastingOrNot, inject: func(ctx context.Context, b *testbed, f *Injected) error {
			b.proxies[f.Replica].Cut()
			defer b.proxies[f.Replica].Mend()
			return sleep(ctx, f.For)
		}},
		// from a sale's write on, no command of a replica reaches Redis; later all of them do
		{kind: "stall-replica", scope: oneReplica, suspends: true, delaysWrite: true, durations: outlastingOrNot,
			inject: func(ctx context.Context, b *testbed, f *Injected) error {
				return b.holdOne(ctx, f, fault.IsWrite, fault.Hold, func() error {
					b.proxies[f.Replica].Hang(f.For)
					return sleep(ctx, f.For)
				})
			}},
		{kind: "late-write", scope: oneBlockingReplica, delaysWrite: true, durations: outlastingOrNot, inject: func(ctx context.Context, b *testbed, f *Injected) error {
			return b.holdOne(ctx, f, fault.IsWrite, fault.Hold, func() error { return sleep(ctx, f.For) })
		}},
		// the lock is deleted while the reply to its holder's read is held back
		{kind: "stolen-lock", scope: oneBlockingReplica, delaysWrite: true, durations: []time.Duration{beyondExpiry}, inject: func(ctx context.Context, b *testbed, f *Injected) error {
			return b.holdOne(ctx, f, fault.IsRead, fault.HoldReply, func() error {
				return errors.Join(b.redisClient.Del(ctx, lock.Key).Err(), sleep(ctx, f.For))
			})
		}},
		{kind: "lose-reply", scope: oneBlockingReplica, leavesLock: true, durations: oneSecond, inject: func(ctx context.Context, b *testbed, f *Injected) error {
			return b.loseCommands(ctx, f, fault.LoseReply)
		}},
		{kind: "lose-request", scope: oneBlockingReplica, leavesLock: true, durations: oneSecond, inject: func(ctx context.Context, b *testbed, f *Injected) error {
			return b.loseCommands(ctx, f, fault.LoseRequest)
		}},
		{kind: "buyers-leave", leavesLock: true, durations: oneSecond, inject: func(ctx context.Context, b *testbed, f *Injected) error {
			return f.repeat(ctx, func() (int64, error) { return b.load.Leave(), nil })
		}},
		{kind: "hang-redis", suspends: true, durations: hang, inject: func(ctx context.Context, b *testbed, f *Injected) error {
			redis := b.redisServer.PID()
			return errors.Join(cluster.Pause(redis), sleep(ctx, f.For), cluster.Resume(redis))
		}},
		// Redis takes the commands, and answers later
		{kind: "pause-redis", suspends: true, durations: hang, inject: func(ctx context.Context, b *testbed, f *Injected) error {
			return errors.Join(b.redisClient.Do(ctx, "CLIENT", "PAUSE", f.For.Milliseconds(), "ALL").Err(), sleep(ctx, f.For))
		}},
		// Redis is killed, and starts again with what it wrote
		{kind: "restart-redis", durations: outage, inject: func(ctx context.Context, b *testbed, f *Injected) error {
			return b.restartRedis(ctx, f.For, func() error { return nil })
		}},
		{kind: "empty-redis", onlyByName: true, destroysLedgers: true, losesOrders: true, durations: outage,
			inject: func(ctx context.Context, b *testbed, f *Injected) error {
				return b.restartRedis(ctx, f.For, b.redisServer.Clear)
			}},
		{kind: "oom", onlyByName: true, dropsOldLedgers: true, losesOrders: true, durations: []time.Duration{2 * time.Second, 4 * time.Second},
			inject: func(ctx context.Context, b *testbed, f *Injected) error {
				limit := func(bytes string) error { return b.redisClient.ConfigSet(ctx, "maxmemory", bytes).Err() }
				return errors.Join(limit("1"), sleep(ctx, f.For), limit("0"))
			}},
		{kind: "flushall", onlyByName: true, destroysLedgers: true, losesOrders: true, durations: momentary,
			inject: func(ctx context.Context, b *testbed, _ *Injected) error { return b.redisClient.FlushAll(ctx).Err() }},
		{kind: "delete-lock", onlyByName: true, deletesLock: true, durations: oneSecond, inject: func(ctx context.Context, b *testbed, f *Injected) error {
			return f.repeat(ctx, func() (int64, error) { return b.redisClient.Del(ctx, lock.Key).Result() })
		}},
		{kind: "cut-clients", onlyByName: true, durations: oneSecond, inject: func(ctx context.Context, b *testbed, f *Injected) error {
			return f.repeat(ctx, func() (int64, error) { return b.redisClient.Do(ctx, "CLIENT", "KILL", "TYPE", "normal").Int64() })
		}},
		// PUT /inventory, just before a Redis that hung goes on
		{kind: "new-run", onlyByName: true, suspends: true, losesOrders: true, durations: []time.Duration{heartbeatExpiry + time.Second}, inject: startRunDuringHang},
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
		return slices.DeleteFunc(Kinds(), func(k Kind) bool { return k.effect().onlyByName }), nil
	}
	var kinds []Kind
	for name := range strings.SplitSeq(text, ",") {
		if !slices.Contains(Kinds(), Kind(name)) {
			return nil, fmt.Errorf("%w: %q; want some of %v", ErrUnknownFault, name, Kinds())
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
	warmUp       = 2 * time.Second // time at the start whose sales are not judged
	quietTime    = 3 * time.Second // fault-free time before the first fault, to measure the rate of sales
	recoveryTime = 4 * time.Second // time after each fault in which sales must recover
)

// NewPlan returns the faults of a session that takes about total. There is at least one fault, and each kind occurs once before any is
// repeated. The same arguments give the same plan.
func NewPlan(seed uint64, total time.Duration, kinds []Kind, replicas int) []Fault {
	random := rand.New(rand.NewPCG(seed, 0))
	var plan []Fault
	rounds := 0
	for left := total - warmUp - quietTime; ; rounds++ {
		for _, i := range random.Perm(len(kinds)) {
			choices := kinds[i].effect().durations
			fault := Fault{Kind: kinds[i], Replica: random.IntN(replicas), For: choices[rounds%len(choices)]}
			left -= fault.For + recoveryTime
			if left < 0 && len(plan) > 0 {
				return plan
			}
			plan = append(plan, fault)
		}
	}
}

// mayLoseUpdate reports whether updates may be lost by this fault under a lock that is not fenced: the lock ends while its holder goes on. A lock
// that is renewed every third of its expiry may have two thirds left when the fault begins; a renewal that goes on keeps it, or sees that
// it is gone.
func (f Fault) mayLoseUpdate(lock string) bool {
	its := f.Kind.effect()
	return its.deletesLock || (its.suspends || its.delaysWrite && !isRenewed(lock)) && f.For > expiry*2/3
}

// mustLoseUpdate reports whether an update must be lost by this fault: a sale's write comes after the expiry of its lock, and others have sold
// meanwhile.
func (f Fault) mustLoseUpdate(lock string) bool {
	return f.Kind.effect().delaysWrite && !isFenced(lock) && f.mayLoseUpdate(lock) && f.For >= 2*expiry
}
