package strategy

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
)

// trialSuffix is appended to the lock's key for a trial.
const trialSuffix = ":trial"

// TrialRights returns the rights that Try needs beside those of the lock.
func TrialRights(key string) Rights { return Rights{"~*" + key + trialSuffix + "*"} }

// Timing of a trial. Another process may try the same lock at the same time, and hold it for a few commands.
const (
	trialTTL   = time.Second
	trialRetry = 10 * time.Millisecond
	trialWait  = 200 * time.Millisecond
)

// Try takes and releases the lock under a key of its own: the real key with trialSuffix. It fails as Lock and Unlock do, but not because
// another process holds that lock or took it over, since Redis accepted the commands then. What an interrupted trial has left in the
// stock's Redis is deleted first, since some locks never expire. It is deleted in a transaction, because the shop sends some.
func (s Strategy) Try(ctx context.Context, parts Parts) error {
	parts.Key += trialSuffix
	parts.TTL, parts.RetryInterval, parts.WaitTimeout = trialTTL, trialRetry, trialWait
	parts.Notifier, parts.Refused = noMessages{}, nil
	_, err := parts.Client.TxPipelined(ctx, func(tx redis.Pipeliner) error { return tx.Del(ctx, parts.Key).Err() })
	if err != nil {
		return rediserr.Classify(ctx, "MULTI DEL "+parts.Key, err)
	}
	locker := s.New(parts)
	lease, err := locker.Lock(ctx, lock.Owner(parts.Process+trialSuffix))
	if err == nil {
		err = lease.Unlock(ctx)
	}
	if err == nil {
		err = lock.Close(ctx, parts.Clock, locker)
	}
	if errors.Is(err, lock.ErrTimeout) || errors.Is(err, lock.ErrNotOwner) || errors.Is(err, lock.ErrExpired) {
		return nil
	}
	return err
}

// noMessages is a lock.Notifier that never notifies. A trial that misses a message only waits a little longer.
type noMessages struct{}

// Subscribe implements lock.Notifier.
func (noMessages) Subscribe(string, func(string)) (unsubscribe func()) { return func() {} }
