package dao

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/meaning"
	"lockstep/internal/strategy"
)

// ShopRights are what the shop itself needs in the Redis that the stock is in, whatever the lock.
const ShopRights = strategy.Rights("+ping +time +multi +exec +eval +evalsha +exists +type +get +set +del +unlink +rename +expire " +
	"+pexpire +pttl +decr +hget +hmget +hset +hlen +hdel +hgetall +hexists +hkeys +hincrby +lrange +lpush +lrem +publish +subscribe " +
	"~" + InventoryKey + " ~" + RunKey + " ~" + overKey + " ~" + fenceKey + " ~" + replicasKey +
	" ~" + readyKey + " ~" + BarrierKey + " ~" + meaning.SegmentPrefix + "* ~" + ordersPrefix + "* ~" + lock.Key + " &" + callChannel)

// NodeRights are what is needed on a node for Redlock beside what the lock needs: to look at its key, to remove it, and to try a write.
const NodeRights = strategy.Rights("+ping +multi +exec +eval +hdel +type +get +set +hkeys +pttl +del ~" + readyKey)

// trialTimeout bounds how long a Redis that does not answer can hold up the answer that its rights are not known.
const trialTimeout = 2 * time.Second

// forms has an example of each command that takes more than a key. KEY and CHANNEL are filled in.
var forms = map[string]string{ //nolint:gochecknoglobals // a table
	"ping": "", "time": "", "unwatch": "",
	"publish": "CHANNEL m", "subscribe": "CHANNEL",
	"eval": "s 1 KEY", "evalsha": "s 1 KEY", "set": "KEY v", "setnx": "KEY v", "getset": "KEY v", "expire": "KEY 1", "pexpire": "KEY 1",
	"delifeq": "KEY v", "delex": "KEY",
	"rename": "KEY KEY", //nolint:dupword // it takes two
	"hget":   "KEY f", "hmget": "KEY f", "hdel": "KEY f", "hexists": "KEY f", "hset": "KEY f v", "hincrby": "KEY f 1",
	"lindex": "KEY 0", "lrange": "KEY 0 -1", "lpush": "KEY v", "rpush": "KEY v", "lrem": "KEY 0 v",
	"xadd": "KEY * f v", "xrange": "KEY - +",
}

// Fits fails if a lock, with a key of this name, cannot be made on this Redis, or if its user lacks a right that the lock needs, or one of
// what else the program needs. Rights that cannot be looked at are no reason.
func (r *Redis) Fits(ctx context.Context, s strategy.Strategy, key string, own strategy.Rights) error {
	if err := s.Fits(r.Servers); err != nil {
		return err
	}
	needs := s.Rights(r.Servers, key)
	if !s.OnNodes {
		return permitted(ctx, r.config, s.Name, own.And(needs))
	}
	errs := []error{permitted(ctx, r.config, s.Name, own)}
	for _, node := range r.Nodes {
		errs = append(errs, permitted(ctx, node.config, s.Name, NodeRights.And(needs)))
	}
	return errors.Join(errs...)
}

// permitted fails with strategy.ErrNoRights if the user of a client of this configuration lacks a right.
func permitted(ctx context.Context, cfg redisclient.Config, what string, rights strategy.Rights) error {
	if len(cfg.Addrs) == 0 { // it is our own
		return nil
	}
	missing := lacking(ctx, cfg, rights)
	if len(missing) == 0 {
		return nil
	}
	for i, word := range missing {
		if word[0] != '+' { // a shell would take it for its own
			missing[i] = "'" + word + "'"
		}
	}
	user := "default"
	if cfg.Username != "" {
		user = "<redis.username>" // which no message shows
	}
	where := ""
	if cfg.Cluster || cfg.MasterName != "" {
		where = ", on every server"
	}
	return fmt.Errorf("%w that the shop with lock %s needs at %s; to give them%s: ACL SETUSER %s %s", strategy.ErrNoRights, what,
		strings.Join(cfg.Addrs, ","), where, user, strings.Join(missing, " "))
}

// lacking returns those of some rights that the user of a client of this configuration does not have, on any master of a Cluster.
func lacking(ctx context.Context, cfg redisclient.Config, rights strategy.Rights) (missing []string) {
	ctx, cancel := context.WithTimeout(ctx, trialTimeout)
	defer cancel()
	cfg.PoolSize = 1
	client := redisclient.New(cfg)
	defer func() { _ = client.Close() }() // nothing was executed
	cluster, is := client.(*redis.ClusterClient)
	if !is {
		return newTrial(rights).run(ctx, client)
	}
	var mu sync.Mutex
	has := rights
	_ = cluster.ForEachMaster(ctx, func(ctx context.Context, master *redis.Client) error { // what does not answer cannot be asked
		lacks := newTrial(rights).run(ctx, master)
		mu.Lock()
		defer mu.Unlock()
		has = has.Without(strategy.Rights(strings.Join(lacks, " ")))
		return nil
	})
	return rights.Without(has).Words()
}

// trial finds out what a user may do, on any server that knows ACL, and without a right to its ACL commands: it puts every command on every
// key and channel into a transaction. Redis looks at the rights before it queues a command. The connection is closed then, so nothing is
// ever executed.
type trial struct {
	rights                   strategy.Rights
	commands, keys, channels []string
	tries                    []try
}

// try is a command that is tried, on a key, on a channel, or on neither.
type try struct {
	command, on string
	reply       *redis.Cmd
}

func newTrial(rights strategy.Rights) *trial {
	t := &trial{rights: rights}
	for _, word := range rights.Words() {
		switch name := word[1:]; word[0] {
		case '+':
			t.commands = append(t.commands, name)
		case '~':
			t.keys = append(t.keys, name)
		default:
			t.channels = append(t.channels, name)
		}
	}
	return t
}

// run returns the rights that are missing. What Redis does not answer, or answers otherwise, counts as permitted.
func (t *trial) run(ctx context.Context, client redis.UniversalClient) (missing []string) {
	_, _ = client.Pipelined(ctx, func(pipe redis.Pipeliner) error { // each try has its error
		t.add(ctx, pipe, "", "exec") // without MULTI it does nothing
		if strings.Contains(string(t.rights), "+watch") {
			t.add(ctx, pipe, "", "watch", t.keys[0])
		}
		t.add(ctx, pipe, "", "multi")
		return nil
	})
	if opened := t.tries[len(t.tries)-1].reply; opened.Err() != nil {
		if rediserr.IsDenied(opened.Err()) {
			return []string{"+multi"}
		}
		return nil
	}
	_, _ = client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Do(ctx, "multi") // should the connection be another one
		for _, command := range t.commands {
			t.queue(ctx, pipe, command)
		}
		return nil
	})
	for _, word := range t.rights.Words() {
		if t.lacks(word[:1], word[1:]) {
			missing = append(missing, word)
		}
	}
	return missing
}

// queue tries a command with everything that it can be on.
func (t *trial) queue(ctx context.Context, pipe redis.Pipeliner, command string) {
	form, known := forms[command]
	if !known {
		form = "KEY"
	}
	on := t.keys
	switch {
	case command == "multi" || command == "exec" || command == "watch": // they were tried
		return
	case form == "":
		on = []string{""}
	case strings.Contains(form, "CHANNEL"):
		on = t.channels
	}
	for _, name := range on {
		example := strings.ReplaceAll(name, "*", "any")
		words := []any{command}
		for word := range strings.FieldsSeq(strings.NewReplacer("KEY", example, "CHANNEL", example).Replace(form)) {
			words = append(words, word)
		}
		t.add(ctx, pipe, name, words...)
	}
}

// add tries a command that is on a key or a channel.
func (t *trial) add(ctx context.Context, pipe redis.Pipeliner, on string, words ...any) {
	t.tries = append(t.tries, try{fmt.Sprint(words[0]), on, pipe.Do(ctx, words...)})
}

// lacks reports whether a right is missing: a command, where no try of it was permitted; a key or a channel, where a script, or else every
// command on it, was not permitted.
func (t *trial) lacks(kind, name string) bool {
	var permitted, refused, named, script bool
	for _, try := range t.tries {
		err := try.reply.Err()
		switch {
		case kind == "+" && try.command != name, kind != "+" && try.on != name:
			continue
		case !rediserr.IsDenied(err):
			permitted = true
		case rediserr.IsCommandDenied(err, try.command):
			named = true
		default:
			refused = true
			script = script || try.command == "eval"
		}
	}
	if kind == "+" {
		return named && !permitted
	}
	return script || refused && !permitted
}
