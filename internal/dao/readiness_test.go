package dao_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/service/history"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/suite"
)

// A condition that makes Redis refuse the write of a sale makes it refuse a probe too, with the same error code.
func TestProbeFailsWhenSalesAreRefused(t *testing.T) {
	server := redisserver.Start(t, "--dbfilename", "folder")
	outside := redisclient.Single(redisclient.Config{Addrs: []string{server.Addr}})
	defer outside.Close()
	does := func(command ...any) func(context.Context) error {
		return func(ctx context.Context) error { return outside.Do(ctx, command...).Err() }
	}
	cannotSave := func(ctx context.Context) error {
		dir, err := outside.ConfigGet(ctx, "dir").Result()
		if err != nil {
			return err
		}
		if err := os.Mkdir(filepath.Join(dir["dir"], "folder"), 0o700); err != nil { // where the file of the data should be
			return err
		}
		if err := outside.ConfigSet(ctx, "save", "3600 1000000").Err(); err != nil {
			return err
		}
		return outside.BgSave(ctx).Err()
	}
	mustSucceed(t, does("ACL", "SETUSER", "shop", "on", ">p", "~*", "&*", "+@all")(t.Context()))
	r := open(t, dao.Config{Addrs: []string{server.Addr}, Username: "shop", Password: "p"})
	store := dao.NewStore(r.Store, "test", 10)
	mustSucceed(t, store.Start(t.Context(), history.Run{}, history.Run{ID: "run", Lock: "v4", Initial: 500}))
	for _, c := range []struct {
		code      string
		do, after func(context.Context) error
	}{
		{code: "READONLY", do: does(unconnected...), after: does("REPLICAOF", "NO", "ONE")},
		{code: "NOREPLICAS", do: does("CONFIG", "SET", "min-replicas-to-write", "1"), after: does("CONFIG", "SET", "min-replicas-to-write", "0")},
		{code: "OOM", do: does("CONFIG", "SET", "maxmemory", "1"), after: does("CONFIG", "SET", "maxmemory", "0")},
		{code: "NOPERM", do: does("ACL", "SETUSER", "shop", "-set"), after: does("ACL", "SETUSER", "shop", "+set")},
		{code: "NOPERM", do: does("ACL", "SETUSER", "shop", "resetkeys", "~inventory"), after: does("ACL", "SETUSER", "shop", "~*")},
		{code: "MISCONF", do: cannotSave, after: does("CONFIG", "SET", "save", "")},
	} {
		t.Run(c.code, func(t *testing.T) {
			if err := store.Probe(t.Context()); err != nil {
				t.Errorf("before %s: %v", c.code, err)
			}
			mustSucceed(t, c.do(t.Context()))
			suite.Eventually(t, c.code, func() bool { // a save fails a moment later
				err := store.Probe(t.Context())
				return errors.Is(err, lock.ErrUnavailable) && strings.Contains(err.Error(), "SET {inventory}:ready: redis refused the command: "+c.code)
			})
			mustSucceed(t, c.after(t.Context()))
		})
	}
	mustSucceed(t, store.Probe(t.Context()))
	if ttl, err := outside.PTTL(t.Context(), "{inventory}:ready").Result(); err != nil || ttl <= 0 || ttl > time.Second {
		t.Errorf("what was tried stays for %v, %v; want a second at most", ttl, err)
	}
}

// The error for a user without access to a key names the key.
func TestDiscardedTransactionNamesRefusedKey(t *testing.T) {
	server := redisserver.Start(t)
	outside := redisclient.Single(redisclient.Config{Addrs: []string{server.Addr}})
	defer outside.Close()
	mustSucceed(t, outside.Do(t.Context(), "ACL", "SETUSER", "k", "on", ">p", "~inventory", "~distributedLock", "&*", "+@all").Err())
	r := open(t, dao.Config{Addrs: []string{server.Addr}, Username: "k", Password: "p"})
	store := dao.NewStore(r.Store, "test", 10)
	for want, do := range map[string]func(context.Context) error{
		"EVAL {inventory}:run: NOPERM": func(ctx context.Context) error { _, err := store.Order(ctx, "none"); return err },
	} {
		t.Run(want, func(t *testing.T) {
			if err := do(t.Context()); !errors.Is(err, lock.ErrUnavailable) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want %s", err, want)
			}
		})
	}
}
