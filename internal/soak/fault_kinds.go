package soak

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/internal/cluster"
	"lockstep/internal/fault"
	"lockstep/internal/lock"
)

// Kind is the name of a kind of fault.
type Kind string

// injector injects a fault, and returns when the fault has ended. It counts the targets hit in f.TargetsHit.
type injector func(ctx context.Context, b *testbed, f *Injected) error

// effect describes a kind of fault: how to inject it, and what it may do to sales, locks and ledgers.
type effect struct {
	kind      Kind
	scope     faultScope
	durations []time.Duration // durations of the fault; each round of the plan uses the next one, and starts over after the last
	inject    injector

	onlyByName      bool // excluded by default: the fault destroys ledgers, ends runs, or takes the lock away
	suspends        bool // the holder, its network or Redis is suspended, so its lock may expire
	delaysWrite     bool // a sale's write is delayed while its lock is renewed, unless the renewal is suspended, too
	deletesLock     bool // the lock is deleted under its holder
	leavesLock      bool // a lock may be left behind until it expires
	destroysLedgers bool // the ledgers are destroyed
	dropsOldLedgers bool // the ledgers of earlier runs may be lost
	losesOrders     bool // orders may be lost, so the ledgers are read before the fault
}

// faultScope tells whether a fault hits one replica or all, and whether the others can go on.
type faultScope int

const (
	wholeShop          faultScope = iota // all replicas
	oneBlockingReplica                   // one replica; the others may have to wait for it
	oneReplica                           // one replica; the others go on selling before the fault ends
)

// Durations of faults, compared with the expiry of the lock and of heartbeats.
const (
	withinExpiry    = expiry * 2 / 5
	beyondExpiry    = 2 * expiry
	heartbeatExpiry = 5 * time.Second // age at which a heartbeat expires: the replica and its sales are then forgotten
)

// effects returns the effects of all kinds.
func effects() []effect {
	var (
		momentary  = []time.Duration{0}
		oneSecond  = []time.Duration{time.Second}
		longShort  = []time.Duration{beyondExpiry, withinExpiry}
		stops      = []time.Duration{beyondExpiry, withinExpiry, 4 * expiry, heartbeatExpiry + time.Second}
		hangs      = []time.Duration{5 * time.Second}
		outages    = []time.Duration{500 * time.Millisecond, 2 * time.Second}
		fullMemory = []time.Duration{2 * time.Second, 4 * time.Second}
	)
	return []effect{
		{kind: "kill-replica", scope: oneReplica, durations: momentary, inject: killReplica},
		{kind: "stop-replica", scope: oneReplica, suspends: true, durations: stops, inject: stopReplica},
		{kind: "cut-replica", scope: oneReplica, durations: longShort, inject: cutReplica},
		{kind: "stall-replica", scope: oneReplica, suspends: true, delaysWrite: true, durations: longShort, inject: stallReplica},
		{kind: "late-write", scope: oneBlockingReplica, delaysWrite: true, durations: longShort, inject: delayWrite},
		{
			kind: "stolen-lock", scope: oneBlockingReplica, delaysWrite: true, durations: []time.Duration{beyondExpiry},
			inject: deleteLockUnderReader,
		},
		{kind: "lose-reply", scope: oneBlockingReplica, leavesLock: true, durations: oneSecond, inject: loseReplies},
		{kind: "lose-request", scope: oneBlockingReplica, leavesLock: true, durations: oneSecond, inject: loseRequests},
		{kind: "buyers-leave", leavesLock: true, durations: oneSecond, inject: makeBuyersLeave},
		{kind: "hang-redis", suspends: true, durations: hangs, inject: hangRedis},
		{kind: "pause-redis", suspends: true, durations: hangs, inject: pauseRedis},
		{kind: "restart-redis", durations: outages, inject: restartRedis},
		{kind: "empty-redis", onlyByName: true, destroysLedgers: true, losesOrders: true, durations: outages, inject: emptyRedis},
		{kind: "oom", onlyByName: true, dropsOldLedgers: true, losesOrders: true, durations: fullMemory, inject: limitMemory},
		{kind: "flushall", onlyByName: true, destroysLedgers: true, losesOrders: true, durations: momentary, inject: flushAll},
		{kind: "delete-lock", onlyByName: true, deletesLock: true, durations: oneSecond, inject: deleteLock},
		{kind: "cut-clients", onlyByName: true, durations: oneSecond, inject: cutClients},
		{
			kind: "new-run", onlyByName: true, suspends: true, losesOrders: true,
			durations: []time.Duration{heartbeatExpiry + time.Second}, inject: startRunDuringHang,
		},
	}
}

// killReplica kills a replica; the cluster restarts it.
func killReplica(_ context.Context, b *testbed, f *Injected) error {
	return b.cluster.Do(f.Victim, "kill")
}

// stopReplica suspends a replica.
func stopReplica(ctx context.Context, b *testbed, f *Injected) error {
	err := errors.Join(b.cluster.Do(f.Victim, "pause"), sleep(ctx, f.Duration))
	_ = b.cluster.Do(f.Victim, "resume") // This fails if the replica was killed meanwhile.
	return err
}

// cutReplica closes the connections of a replica to Redis, and refuses new ones.
func cutReplica(ctx context.Context, b *testbed, f *Injected) error {
	b.proxies[f.Replica].Cut()
	defer b.proxies[f.Replica].Restore()
	return sleep(ctx, f.Duration)
}

// stallReplica delays all commands of a replica, beginning with a sale's write.
func stallReplica(ctx context.Context, b *testbed, f *Injected) error {
	return b.holdOne(ctx, f, fault.IsWrite, fault.Hold, func() error {
		b.proxies[f.Replica].Hang(f.Duration)
		return sleep(ctx, f.Duration)
	})
}

// delayWrite delays the write of a sale.
func delayWrite(ctx context.Context, b *testbed, f *Injected) error {
	return b.holdOne(ctx, f, fault.IsWrite, fault.Hold, func() error { return sleep(ctx, f.Duration) })
}

// deleteLockUnderReader deletes the lock while the reply to its holder's read is delayed.
func deleteLockUnderReader(ctx context.Context, b *testbed, f *Injected) error {
	return b.holdOne(ctx, f, fault.IsRead, fault.HoldReply, func() error {
		return errors.Join(b.redisClient.Del(ctx, lock.Key).Err(), sleep(ctx, f.Duration))
	})
}

// loseReplies loses replies to commands of a replica.
func loseReplies(ctx context.Context, b *testbed, f *Injected) error {
	return b.loseCommands(ctx, f, fault.LoseReply)
}

// loseRequests loses commands of a replica.
func loseRequests(ctx context.Context, b *testbed, f *Injected) error {
	return b.loseCommands(ctx, f, fault.LoseRequest)
}

// makeBuyersLeave cancels pending requests of buyers.
func makeBuyersLeave(ctx context.Context, b *testbed, f *Injected) error {
	return f.repeat(ctx, func() (int64, error) { return b.load.Leave(), nil })
}

// hangRedis suspends the process of Redis.
func hangRedis(ctx context.Context, b *testbed, f *Injected) error {
	pid := b.redisServer.PID()
	return errors.Join(cluster.Pause(pid), sleep(ctx, f.Duration), cluster.Resume(pid))
}

// pauseRedis makes Redis accept commands, and execute them only after the fault.
func pauseRedis(ctx context.Context, b *testbed, f *Injected) error {
	return errors.Join(b.redisClient.Do(ctx, "CLIENT", "PAUSE", f.Duration.Milliseconds(), "ALL").Err(), sleep(ctx, f.Duration))
}

// restartRedis kills Redis, and starts it again with the data that it wrote to disk.
func restartRedis(ctx context.Context, b *testbed, f *Injected) error {
	return b.restartRedis(ctx, f.Duration, func() error { return nil })
}

// emptyRedis kills Redis, deletes its data, and starts it again.
func emptyRedis(ctx context.Context, b *testbed, f *Injected) error {
	return b.restartRedis(ctx, f.Duration, b.redisServer.Clear)
}

// limitMemory makes Redis refuse every command that needs memory.
func limitMemory(ctx context.Context, b *testbed, f *Injected) error {
	setLimit := func(bytes string) error { return b.redisClient.ConfigSet(ctx, "maxmemory", bytes).Err() }
	return errors.Join(setLimit("1"), sleep(ctx, f.Duration), setLimit("0"))
}

// flushAll deletes all keys in Redis.
func flushAll(ctx context.Context, b *testbed, _ *Injected) error {
	return b.redisClient.FlushAll(ctx).Err()
}

// deleteLock deletes the lock repeatedly.
func deleteLock(ctx context.Context, b *testbed, f *Injected) error {
	return f.repeat(ctx, func() (int64, error) { return b.redisClient.Del(ctx, lock.Key).Result() })
}

// cutClients closes all client connections of Redis repeatedly.
func cutClients(ctx context.Context, b *testbed, f *Injected) error {
	return f.repeat(ctx, func() (int64, error) { return b.redisClient.Do(ctx, "CLIENT", "KILL", "TYPE", "normal").Int64() })
}

// Kinds returns all kinds of faults.
func Kinds() (all []Kind) {
	for _, e := range effects() {
		all = append(all, e.kind)
	}
	return all
}

// ParseKinds parses a comma-separated list of kinds. An empty list means all kinds except those that are injected only by name. ParseKinds
// returns ErrUnknownFault for an unknown kind.
func ParseKinds(text string) ([]Kind, error) {
	if text == "" {
		return slices.DeleteFunc(Kinds(), func(k Kind) bool { return k.effect().onlyByName }), nil
	}
	var kinds []Kind
	for name := range strings.SplitSeq(text, ",") {
		if !slices.Contains(Kinds(), Kind(name)) {
			return nil, fmt.Errorf("%w: %q; want some of %s", ErrUnknownFault, name, kindNames())
		}
		kinds = append(kinds, Kind(name))
	}
	return kinds, nil
}

// kindNames returns the names of all kinds, separated by commas.
func kindNames() string {
	var names []string
	for _, kind := range Kinds() {
		names = append(names, string(kind))
	}
	return strings.Join(names, ", ")
}

// effect returns the effect of a kind that Kinds lists.
func (k Kind) effect() effect {
	all := effects()
	if i := slices.IndexFunc(all, func(e effect) bool { return e.kind == k }); i >= 0 {
		return all[i]
	}
	return effect{}
}
