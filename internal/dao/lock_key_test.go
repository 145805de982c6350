package dao_test

import (
	"errors"
	"testing"

	"lockstep/internal/dao"
	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// Remove deletes a lock only if the named holder has it, whether its key is a string or a hash. Without a name, it deletes the lock of any
// holder.
func TestRemoveTakesLockFromNamedHolder(t *testing.T) {
	eachRedis(t, func(t *testing.T, r *dao.Redis) {
		ctx, key := t.Context(), dao.NewLockKey(r.Lock, nil, lock.Key)
		asString := func() error { return r.Store.Set(ctx, lock.Key, "A", 0).Err() }
		asHash := func() error { return r.Store.HSet(ctx, lock.Key, "A", 2).Err() }
		asList := func() error { return r.Store.LPush(ctx, lock.Key, "A").Err() }
		for name, c := range map[string]struct {
			take    func() error
			holder  string
			removed bool
			err     error
		}{
			"a string, its holder":        {take: asString, holder: "A", removed: true},
			"a string, another holder":    {take: asString, holder: "B", err: service.ErrNotHolder},
			"a string, whoever has it":    {take: asString, removed: true},
			"a hash, its holder":          {take: asHash, holder: "A", removed: true},
			"a hash, another holder":      {take: asHash, holder: "B", err: service.ErrNotHolder},
			"a list, which has no holder": {take: asList, holder: "A", err: service.ErrNotHolder},
			"a list, whoever has it":      {take: asList, removed: true},
			"no lock, a holder":           {holder: "A"},
			"no lock, whoever has it":     {err: nil},
		} {
			t.Run(name, func(t *testing.T) {
				mustSucceed(t, r.Store.Del(ctx, lock.Key).Err())
				if c.take != nil {
					mustSucceed(t, c.take())
				}
				removed, err := key.Remove(ctx, service.LockLayout{}, c.holder)
				if removed != c.removed || !errors.Is(err, c.err) {
					t.Errorf("removed %t, %v; want %t, %v", removed, err, c.removed, c.err)
				}
				remains := c.take != nil && !c.removed
				if n := r.Store.Exists(ctx, lock.Key).Val(); (n == 1) != remains {
					t.Errorf("%d keys are left; want one: %t", n, remains)
				}
			})
		}
	})
}

// On nodes and in segments, Remove deletes the keys of the named holder, and no others.
func TestRemoveTakesKeysOfNamedHolderOnly(t *testing.T) {
	server := open(t, dao.Config{EmbeddedAddr: "127.0.0.1:0"})
	ctx, key := t.Context(), dao.NewLockKey(server.Lock, server.Nodes, lock.Key)
	for i, holder := range []string{"A", "A", "A", "B", "B"} {
		mustSucceed(t, server.Nodes[i].Set(ctx, lock.Key, holder, 0).Err())
		mustSucceed(t, server.Store.HSet(ctx, service.SegmentKey(lock.Key, i+1), holder, 1).Err())
	}
	if removed, err := key.Remove(ctx, service.LockLayout{OnNodes: true}, "A"); !removed || err != nil {
		t.Errorf("on nodes: removed %t, %v", removed, err)
	}
	if removed, err := key.Remove(ctx, service.LockLayout{Segments: 5}, "A"); !removed || err != nil {
		t.Errorf("in segments: removed %t, %v", removed, err)
	}
	for i, want := range []int64{0, 0, 0, 1, 1} {
		if n := server.Nodes[i].Exists(ctx, lock.Key).Val(); n != want {
			t.Errorf("node %d has %d keys; want %d", i+1, n, want)
		}
		if n := server.Store.Exists(ctx, service.SegmentKey(lock.Key, i+1)).Val(); n != want {
			t.Errorf("segment %d has %d keys; want %d", i+1, n, want)
		}
	}
	if removed, err := key.Remove(ctx, service.LockLayout{OnNodes: true}, "A"); removed || !errors.Is(err, service.ErrNotHolder) {
		t.Errorf("on nodes, after that: removed %t, %v; want %v", removed, err, service.ErrNotHolder)
	}
}
