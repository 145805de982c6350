package dao

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock/rediserr"
	"lockstep/internal/service"
	"lockstep/util/lua"
)

// LockKey reads and removes the key of a lock of any strategy. It implements service.LockKey.
type LockKey struct {
	client redis.UniversalClient // the stock's Redis
	nodes  Nodes                 // masters for Redlock; nil: none
	key    string                // name of the lock's key, without a segment's suffix
}

// NewLockKey returns a LockKey for the named key, in one Redis and on nodes for Redlock.
func NewLockKey(client redis.UniversalClient, nodes Nodes, key string) *LockKey {
	return &LockKey{client: client, nodes: nodes, key: key}
}

// ReadState implements service.LockKey. If the lock is on nodes, it returns the state that a majority of them reports, unless the stock's
// Redis has the key itself.
func (k *LockKey) ReadState(ctx context.Context, layout service.LockLayout) (service.KeyState, error) {
	if layout.Segments > 0 {
		return k.lookAtSegments(ctx, layout.Segments)
	}
	state, err := k.readKeyState(ctx, k.client, k.key)
	if err != nil || state.Holder != "" || !layout.OnNodes {
		return state, err
	}
	states := make([]service.KeyState, len(k.nodes))
	majorityErr := k.forEachNode(ctx, func(ctx context.Context, i int, node Node) error {
		state, err := k.readKeyState(ctx, node, k.key)
		states[i] = state
		return err
	})
	votes := map[string]int{}
	for _, s := range states {
		if votes[s.Holder]++; s.Holder != "" && votes[s.Holder] > len(k.nodes)/2 {
			return s, nil
		}
	}
	return state, majorityErr
}

// lookAtSegments returns the state of the first held segment lock, or else of segment 1, with the states of all segments. They are read one
// after the other, not at one moment.
func (k *LockKey) lookAtSegments(ctx context.Context, segments int) (first service.KeyState, err error) {
	all := make([]service.KeyState, segments)
	for i := range all {
		if all[i], err = k.readKeyState(ctx, k.client, service.SegmentKey(k.key, i+1)); err != nil {
			return first, err
		}
		if i == 0 || first.Holder == "" && all[i].Holder != "" {
			first = all[i]
		}
	}
	first.Segments = all
	return first, nil
}

// nodeTimeout bounds the wait for a node, so that one that hangs does not delay the answer.
const nodeTimeout = time.Second

// forEachNode calls do for all nodes at once. It fails if do failed for a majority.
func (k *LockKey) forEachNode(ctx context.Context, do func(context.Context, int, Node) error) error {
	ctx, cancel := context.WithTimeout(ctx, nodeTimeout)
	defer cancel()
	errs := make([]error, len(k.nodes))
	var wg sync.WaitGroup
	for i, node := range k.nodes {
		wg.Go(func() { errs[i] = do(ctx, i, node) })
	}
	wg.Wait()
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) <= len(k.nodes)/2 {
		return nil
	}
	return fmt.Errorf("%d of %d nodes: %w", len(errs), len(k.nodes), errs[0])
}

// readKeyState reads the state of a key in one transaction.
func (k *LockKey) readKeyState(ctx context.Context, client redis.UniversalClient, key string) (service.KeyState, error) {
	var keyType *redis.StatusCmd
	var value *redis.StringCmd
	var owners *redis.StringSliceCmd
	var ttl *redis.Cmd
	err := ReadOnMaster(ctx, client, key, func(tx redis.Pipeliner) {
		keyType = tx.Type(ctx, key)
		value = tx.Get(ctx, key)
		owners = tx.HKeys(ctx, key)
		ttl = tx.Do(ctx, "PTTL", key)
	})
	if err != nil && !errors.Is(err, redis.Nil) && !rediserr.IsWrongType(err) { // GET or HKEYS has the wrong type for the key.
		return service.KeyState{}, rediserr.Classify(ctx, "MULTI look at "+key, err)
	}
	millis, err := ttl.Int64()
	if err != nil {
		return service.KeyState{}, rediserr.Classify(ctx, "PTTL "+key, err)
	}
	state := service.KeyState{Name: key, Type: keyType.Val(), Holder: value.Val(), TTL: millis}
	if len(owners.Val()) > 0 {
		state.Holder = owners.Val()[0]
	}
	return state, nil
}

// Remove implements service.LockKey: it deletes the key, the keys of all segments, and the key on every node.
func (k *LockKey) Remove(ctx context.Context, layout service.LockLayout, holder string) (bool, error) {
	keys := []string{k.key}
	for i := range layout.Segments {
		keys = append(keys, service.SegmentKey(k.key, i+1))
	}
	var removed, heldByAnother atomic.Bool
	remove := func(ctx context.Context, client redis.Cmdable, key, where string) error {
		reply, err := removeKey(ctx, client, key, holder)
		if err != nil {
			return rediserr.Classify(ctx, "remove "+key+where, err)
		}
		removed.CompareAndSwap(false, reply == lua.Released)
		heldByAnother.CompareAndSwap(false, reply == lua.HeldByAnother)
		return nil
	}
	for _, key := range keys { // One command each, because in a Redis Cluster each key has its own slot.
		if err := remove(ctx, k.client, key, ""); err != nil {
			return false, err
		}
	}
	var err error
	if layout.OnNodes {
		err = k.forEachNode(ctx, func(ctx context.Context, _ int, node Node) error {
			return remove(ctx, node, k.key, " on "+node.Addr)
		})
	}
	if err == nil && !removed.Load() && heldByAnother.Load() {
		err = fmt.Errorf("%w: %q", service.ErrNotHolder, holder)
	}
	return removed.Load(), err
}

// removeKey deletes a lock's key if holder has it; with an empty holder, whoever has it. It replies as lua.RemoveHolder.
func removeKey(ctx context.Context, client redis.Cmdable, key, holder string) (int, error) {
	if holder != "" {
		return client.Eval(ctx, lua.RemoveHolder, []string{key}, holder).Int()
	}
	n, err := client.Del(ctx, key).Result()
	if n == 0 {
		return lua.HeldByNobody, err
	}
	return lua.Released, err
}
