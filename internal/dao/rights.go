package dao

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/redis/meaning"
	"lockstep/internal/strategy"
)

// ShopRights returns the rights that the shop itself needs in the stock's Redis, whatever the lock.
func ShopRights() strategy.Rights {
	return strategy.ParseRights("+ping +time +multi +exec +eval +evalsha +exists +type +get +set +del +unlink +rename +expire " +
		"+pexpire +pttl +decr +hget +hmget +hset +hlen +hdel +hgetall +hexists +hkeys +hincrby +lrange +lpush +lrem +publish +subscribe " +
		"~" + InventoryKey + " ~" + RunKey + " ~" + pastRunsKey + " ~" + fenceKey + " ~" + replicasKey + " ~" + readyKey + " ~" + BarrierKey +
		" ~" + meaning.SegmentPrefix + "* ~" + ordersPrefix + "* ~" + lock.Key + " &" + callChannel).Union(strategy.TrialRights(lock.Key))
}

// NodeRights returns the rights that are needed on a node of Redlock beside those of the lock: to read its key, to remove it, and to try it.
func NodeRights() strategy.Rights {
	return strategy.ParseRights("+ping +multi +exec +eval +hdel +type +get +set +hkeys +pttl +del").Union(strategy.TrialRights(lock.Key))
}

// Fits fails if a lock, with a key of this name, cannot be made on this Redis: the strategy takes and releases a lock on a key of its own,
// and its channels are subscribed to. Where the user lacks a right, the error is strategy.ErrNoRights, with the words of Redis and all
// rights that are needed, also by what else the program does: own. Of nodes for Redlock, each is tried by itself, and one that is gone is
// no reason.
func (r *Redis) Fits(ctx context.Context, s strategy.Strategy, key string, own strategy.Rights) error {
	if err := s.Fits(r.Servers); err != nil {
		return err
	}
	parts := strategy.Parts{
		Options: lock.Options{Key: key, Process: strconv.FormatInt(rand.Int64(), 36), Clock: lock.SystemClock{}, Rand: rand.Int64N},
		Client:  r.Lock, CompareAndDelete: r.Servers.CompareAndDelete,
	}
	needs := s.Rights(r.Servers, key)
	if !s.OnNodes {
		err := canSubscribe(ctx, r.Lock, own.Union(needs))
		if err == nil {
			err = s.Try(ctx, parts)
		}
		return r.Denied(s, key, own, err)
	}
	var errs []error
	for _, node := range r.Nodes {
		parts.Nodes = []redis.Cmdable{node}
		if err := s.Try(ctx, parts); rediserr.IsDenied(err) || rediserr.IsUnknownCommand(err) {
			errs = append(errs, denied(node.config, s.Name, NodeRights().Union(needs), err))
		}
	}
	return errors.Join(errs...)
}

// Denied returns err; if it is that the user lacks a right, as strategy.ErrNoRights with all rights that the lock needs, and own, those of
// what else the program does.
func (r *Redis) Denied(s strategy.Strategy, key string, own strategy.Rights, err error) error {
	return denied(r.config, s.Name, own.Union(s.Rights(r.Servers, key)), err)
}

// subscribeTimeout bounds the wait for the answer to SUBSCRIBE: a proxy that does not know it may say nothing.
const subscribeTimeout = 3 * time.Second

// canSubscribe fails if the channels among some rights cannot be subscribed to.
func canSubscribe(ctx context.Context, client redis.UniversalClient, rights strategy.Rights) error {
	for _, right := range rights {
		pattern, isChannel := strings.CutPrefix(right, "&")
		if !isChannel {
			continue
		}
		channel := strings.ReplaceAll(pattern, "*", "none")
		subscription := client.Subscribe(ctx, channel)
		_, err := subscription.ReceiveTimeout(ctx, subscribeTimeout)
		if err = errors.Join(err, subscription.Close()); err != nil {
			return rediserr.Classify(ctx, "SUBSCRIBE "+channel, err)
		}
	}
	return nil
}

// denied returns err; if it is that the user of a client of this configuration lacks a right, as strategy.ErrNoRights with what gives all
// that are needed, and if it is that the server does not know a command, as strategy.ErrNoCommand.
func denied(cfg redisclient.Config, version string, needs strategy.Rights, err error) error {
	at := strings.Join(cfg.Addrs, ",")
	switch {
	case rediserr.IsUnknownCommand(err):
		return fmt.Errorf("%w that lock %s needs at %s: %w", strategy.ErrNoCommand, version, at, err)
	case !rediserr.IsDenied(err):
		return err
	}
	rules := slices.Clone(needs)
	for i, rule := range rules {
		if rule[0] != '+' { // A shell would interpret it.
			rules[i] = "'" + rule + "'"
		}
	}
	user, says := "default", err.Error()
	if cfg.Username != "" {
		user = "<redis.username>" // which no message shows
		says = strings.ReplaceAll(says, "User "+cfg.Username+" ", "User "+user+" ")
	}
	where := ""
	if cfg.Cluster || cfg.MasterName != "" {
		where = ", on every server"
	}
	return fmt.Errorf("%w that lock %s needs at %s: %s; to give it all%s: ACL SETUSER %s %s",
		strategy.ErrNoRights, version, at, says, where, user, rules)
}
