package contestants

import (
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
)

// defaultHandOffLimit is the default of lock.hand_off_limit.
const defaultHandOffLimit = 64

// defaultSegments is the default of lock.segments.
const defaultSegments = 8

// lockNodes is the number of servers of a lock on a majority, beside the server with the stock.
const lockNodes = 5

// newSteps returns a contestant for each of the strategies with these names.
func newSteps(names ...string) (all []Contestant) {
	for _, name := range names {
		all = append(all, newStep(name))
	}
	return all
}

// newStep returns the contestant for a strategy. The Open of an unknown name returns an error.
func newStep(name string) Contestant {
	row, err := evolution.Find(name)
	c := Contestant{Name: name, Title: row.Title.In(language.English), Kind: Step}
	c.fits = func(servers strategy.Servers) error {
		servers.Nodes = lockNodes
		return row.CheckServers(servers)
	}
	if row.OnNodes {
		c.Nodes = 1 + lockNodes
	}
	switch row.Update {
	case strategy.ReadModifyWrite:
	case strategy.Segmented:
		c.Kind, c.Segments = Segmented, defaultSegments
	default:
		c.Kind = Lockless
	}
	c.Open = func(env Env) (Seller, error) {
		switch {
		case err != nil:
			return nil, err
		case c.Kind == Lockless:
			return openUnlocked(row, env), nil
		}
		return openStep(row, env)
	}
	return c
}

func openStep(row strategy.Strategy, env Env) (Seller, error) {
	client := newClient(env, env.DialLock, env.Addrs[0])
	servers, err := dao.DetectServers(context.Background(), client, nil)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	var nodes []redis.Cmdable
	var closers []func() error
	for _, addr := range env.Addrs[1:] {
		node := newClient(env, env.DialLock, addr)
		nodes, closers = append(nodes, node), append(closers, node.Close)
	}
	notifier := dao.NewNotifier(client)
	parts := strategy.Parts{
		Options: lock.Options{
			Key: lock.Key, TTL: env.TTL, RetryInterval: env.RetryPause, WaitTimeout: env.WaitTimeout, Clock: lock.SystemClock{},
			Process: env.Process, HandOffLimit: defaultHandOffLimit, Notifier: notifier, Rand: mathrand.Int64N,
		},
		Client: client, CompareAndDelete: servers.CompareAndDelete, Nodes: nodes,
	}
	if row.Update == strategy.Segmented {
		return newSegmented(row, parts, openStock(env), notifier.Close, client.Close), nil
	}
	locker := row.New(parts)
	closeLocker := func() error { return lock.Close(context.Background(), lock.SystemClock{}, locker) }
	closers = append([]func() error{closeLocker}, append(closers, notifier.Close, client.Close)...)
	return lockedSeller{
		lock: func(ctx context.Context) (lease, error) {
			held, err := locker.Lock(ctx, lock.Owner(rand.Text()))
			if err != nil {
				return lease{}, err
			}
			return lease{token: held.Token(), unlock: held.Unlock}, nil
		},
		stock: openStock(env),
		close: func() error {
			var errs []error
			for _, c := range closers {
				errs = append(errs, c())
			}
			return errors.Join(errs...)
		},
	}, nil
}
