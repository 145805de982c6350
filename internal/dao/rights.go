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

// ShopRights returns the Redis rights that the shop needs besides those of its lock.
func ShopRights() strategy.Rights {
	return strategy.ParseRights("+ping +time +multi +exec +eval +evalsha +exists +type +get +set +del +unlink +rename +expire " +
		"+pexpire +pttl +decr +hget +hmget +hset +hlen +hdel +hgetall +hexists +hkeys +hincrby +lrange +lpush +lrem +publish +subscribe " +
		"~" + InventoryKey + " ~" + RunKey + " ~" + pastRunsKey + " ~" + fenceKey + " ~" + replicasKey + " ~" + readyKey + " ~" + BarrierKey +
		" ~" + meaning.SegmentPrefix + "* ~" + ordersPrefix + "* ~" + lock.Key + " &" + heartbeatRequestChannel).
		Union(strategy.TrialRights(lock.Key))
}

// NodeRights returns the rights needed on a Redlock node besides those of the lock: to read, remove and try the key.
func NodeRights() strategy.Rights {
	return strategy.ParseRights("+ping +multi +exec +eval +hdel +type +get +set +hkeys +pttl +del").Union(strategy.TrialRights(lock.Key))
}

// CheckStrategy checks that a strategy works on this Redis with a lock key of this name: it takes and releases a lock on a separate key,
// and subscribes to the channels. If the user lacks a right, it fails with strategy.ErrNoRights, which holds the error of Redis and all
// required rights: those of the lock, and own, the rights of the rest of the program. Each Redlock node is tried separately; a node that
// does not answer is not a failure.
func (r *Redis) CheckStrategy(ctx context.Context, s strategy.Strategy, key string, own strategy.Rights) error {
	if err := s.CheckServers(r.Servers); err != nil {
		return err
	}
	parts := strategy.Parts{
		Options: lock.Options{Key: key, Process: strconv.FormatInt(rand.Int64(), 36), Clock: lock.SystemClock{}, Rand: rand.Int64N},
		Client:  r.Lock, CompareAndDelete: r.Servers.CompareAndDelete,
	}
	needs := s.Rights(r.Servers, key)
	if !s.OnNodes {
		err := trySubscribe(ctx, r.Lock, own.Union(needs))
		if err == nil {
			err = s.Try(ctx, parts)
		}
		return r.ExplainDenial(s, key, own, err)
	}
	var errs []error
	for _, node := range r.Nodes {
		parts.Nodes = []redis.Cmdable{node}
		if err := s.Try(ctx, parts); rediserr.IsDenied(err) || rediserr.IsUnknownCommand(err) {
			errs = append(errs, explainDenial(node.config, s.Name, NodeRights().Union(needs), err))
		}
	}
	return errors.Join(errs...)
}

// ExplainDenial turns an error about a missing right into a strategy.ErrNoRights with all required rights: those of the lock, and own, the
// rights of the rest of the program. It returns other errors unchanged.
func (r *Redis) ExplainDenial(s strategy.Strategy, key string, own strategy.Rights, err error) error {
	return explainDenial(r.config, s.Name, own.Union(s.Rights(r.Servers, key)), err)
}

// subscribeTimeout bounds the wait for the reply to SUBSCRIBE: a proxy without pub/sub may never reply.
const subscribeTimeout = 3 * time.Second

// trySubscribe subscribes to the channels among rights, and fails if Redis refuses one.
func trySubscribe(ctx context.Context, client redis.UniversalClient, rights strategy.Rights) error {
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

// explainDenial turns an error about a missing right into a strategy.ErrNoRights with the ACL command that grants all required rights, and
// an error about an unknown command into a strategy.ErrNoCommand. It returns other errors unchanged.
func explainDenial(cfg redisclient.Config, version string, needs strategy.Rights, err error) error {
	at := strings.Join(cfg.Addrs, ",")
	switch {
	case rediserr.IsUnknownCommand(err):
		return fmt.Errorf("%w that lock %s needs at %s: %w", strategy.ErrNoCommand, version, at, err)
	case !rediserr.IsDenied(err):
		return err
	}
	rules := slices.Clone(needs)
	for i, rule := range rules {
		if rule[0] != '+' { // A shell would interpret the rule.
			rules[i] = "'" + rule + "'"
		}
	}
	user, text := "default", err.Error()
	if cfg.Username != "" {
		user = "<redis.username>" // The user name may be confidential.
		text = strings.ReplaceAll(text, "User "+cfg.Username+" ", "User "+user+" ")
	}
	where := ""
	if cfg.Cluster || cfg.MasterName != "" {
		where = ", on every server"
	}
	return fmt.Errorf("%w that lock %s needs at %s: %s; to give it all%s: ACL SETUSER %s %s",
		strategy.ErrNoRights, version, at, text, where, user, rules)
}
