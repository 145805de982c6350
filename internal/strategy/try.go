package strategy

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
)

// trialSuffix is what the key of a trial has beside the lock's.
const trialSuffix = ":trial"

// TrialRight is what the trial of a lock with a key of this name needs beside what the lock needs.
func TrialRight(key string) Rights { return Rights("~*" + key + trialSuffix + "*") }

// How a trial waits: another process may try the same lock at the same time, and hold it for a few commands.
const (
	trialTTL   = time.Second
	trialRetry = 10 * time.Millisecond
	trialWait  = 200 * time.Millisecond
)

// Try takes and releases a lock on a key of its own, which is the real one's with trialSuffix. It fails as that does, but not because
// another process has that lock or took it over: then Redis accepted the commands. What a trial that did not end has left in the stock's
// Redis is deleted first, since some locks never expire, in a transaction, as the shop sends some.
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

// noMessages is a lock.Notifier that never notifies: a trial that misses a message waits a little longer.
type noMessages struct{}

// Subscribe implements lock.Notifier.
func (noMessages) Subscribe(string, func(string)) (unsubscribe func()) { return func() {} }
