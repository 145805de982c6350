package dao_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/strategy"
	"lockstep/internal/test/redisserver"
)

// allow makes a user of these rights alone, and returns how to be it.
func allow(t *testing.T, client redis.UniversalClient, addr string, rights ...string) dao.Config {
	t.Helper()
	command := []any{"ACL", "SETUSER", "shop", "reset", "on", ">word"}
	for _, right := range rights {
		command = append(command, right)
	}
	if err := client.Do(t.Context(), command...).Err(); err != nil {
		t.Fatal(err)
	}
	return dao.Config{Addrs: []string{addr}, Username: "shop", Password: "word"}
}

// A user with the rights of the table, or with more, may have each lock; one who lacks a command that every lock of the kind sends, or a
// channel, is refused in the words of Redis, with all rights that the lock needs.
func TestFitsReportsMissingRights(t *testing.T) {
	server := redisserver.Start(t)
	root := open(t, dao.Config{Addrs: []string{server.Addr}})
	refusal := func(t *testing.T, row strategy.Strategy, rights ...string) error {
		t.Helper()
		r, err := dao.Open(t.Context(), allow(t, root.Store, server.Addr, rights...))
		if err != nil {
			return err
		}
		defer r.Close()
		return r.CheckStrategy(t.Context(), row, lock.Key, dao.ShopRights())
	}
	for _, row := range evolution.Table() {
		if row.CheckServers(root.Servers) != nil {
			continue
		}
		needs := dao.ShopRights().Union(row.Rights(root.Servers, lock.Key))
		for _, rights := range [][]string{needs, {"+@all", "~*", "&*"}} {
			if err := refusal(t, row, rights...); err != nil {
				t.Errorf("%s: %v of a user with %v", row.Name, err, rights)
			}
		}
	}
	fences, err := root.Store.Keys(t.Context(), "*").Result()
	if want := []string{"{distributedLock:trial}:fence"}; err != nil || !slices.Equal(fences, want) {
		t.Errorf("the trials left %v, %v; want %v", fences, err, want)
	}
	for version, missing := range map[string]string{
		"v1": "+set +del", "v3": "+set +get +del", "v4": "+set +eval +del", "v6": "+eval +exists +hincrby +pexpire",
		"v7": "+eval +time +hincrby", "v11": "&{distributedLock}:turn:* &{distributedLock}:wanted:* +subscribe +eval",
		"getset": "+del", "set-expire": "+pexpire",
	} {
		row, err := evolution.Find(version)
		if err != nil {
			t.Fatal(err)
		}
		needs := dao.ShopRights().Union(row.Rights(root.Servers, lock.Key))
		for right := range strings.FieldsSeq(missing) {
			t.Run(version+" without "+right, func(t *testing.T) {
				i := slices.Index(needs, right)
				err := refusal(t, row, slices.Concat(needs[:i], needs[i+1:])...)
				if !errors.Is(err, strategy.ErrNoRights) || !strings.Contains(err.Error(), "ACL SETUSER <redis.username> +ping") ||
					!strings.Contains(err.Error(), " "+quoted(right)) || strings.Contains(err.Error(), "shop ") {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

func quoted(right string) string {
	if right[0] == '+' {
		return right
	}
	return "'" + right + "'"
}

// Redlock's nodes are asked, each by itself; of the stock's Redis the lock needs nothing.
func TestMissingRightsOnNodesAreReported(t *testing.T) {
	row, _ := evolution.Find("redlock")
	var addrs []string
	for range 4 {
		server := redisserver.Start(t)
		root := open(t, dao.Config{Addrs: []string{server.Addr}})
		allow(t, root.Store, server.Addr, slices.Concat(dao.ShopRights(), row.Needs)...)
		addrs = append(addrs, server.Addr)
	}
	cfg := dao.Config{Addrs: addrs[:1], RedlockAddrs: addrs[1:], Username: "shop", Password: "word"}
	if err := open(t, cfg).CheckStrategy(t.Context(), row, lock.Key, dao.ShopRights()); err != nil {
		t.Error(err)
	}
	allow(t, open(t, dao.Config{Addrs: addrs[2:3]}).Store, addrs[2], "+@all", "~distributedLock", "~*distributedLock:trial*", "-eval")
	err := open(t, cfg).CheckStrategy(t.Context(), row, lock.Key, dao.ShopRights())
	if !errors.Is(err, strategy.ErrNoRights) || !strings.Contains(err.Error(), addrs[2]) || !strings.Contains(err.Error(), " 'eval'") {
		t.Errorf("a node without +eval: %v", err)
	}
}

// A server, or a proxy before it, that lacks a command of a lock or of the shop is refused, and the command is named.
func TestMissingServerCommandIsReported(t *testing.T) {
	t.Parallel()
	for command, c := range map[string]struct{ version, says string }{
		"MULTI": {
			version: "v0", says: "MULTI"}, "SUBSCRIBE": {version: "v11", says: "SUBSCRIBE"}, "EVAL": {version: "v4",
			says: "EVAL"}, "SET": {version: "v1", says: "SET"},
		"TIME": {version: "v7", says: "lockFenced.lua"},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			server := redisserver.Start(t, "--rename-command", command, "")
			row, err := evolution.Find(c.version)
			if err != nil {
				t.Fatal(err)
			}
			r := open(t, dao.Config{Addrs: []string{server.Addr}})
			err = r.CheckStrategy(t.Context(), row, lock.Key, dao.ShopRights())
			if !errors.Is(err, strategy.ErrNoCommand) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want that it lacks %s", err, command)
			}
		})
	}
}

// A server without GET is no server whose stock is bad.
func TestMissingGetRightIsNotBadStock(t *testing.T) {
	t.Parallel()
	server := redisserver.Start(t, "--rename-command", "GET", "")
	client := open(t, dao.Config{Addrs: []string{server.Addr}}).Store
	mustSucceed(t, client.Set(t.Context(), dao.InventoryKey, 7, 0).Err())
	_, err := dao.NewStore(client, "asking", 1).Tally(t.Context())
	if err == nil || errors.Is(err, service.ErrBadStock) {
		t.Errorf("%v; want the error of GET", err)
	}
}

// A proxy that swallows SUBSCRIBE is an error after a while, and no start that hangs.
func TestFitsFailsWithoutReplyToSubscribe(t *testing.T) {
	t.Parallel()
	m := miniredis.RunT(t)
	m.Server().SetPreHook(func(_ *server.Peer, command string, _ ...string) bool { return command == "SUBSCRIBE" })
	row, err := evolution.Find("v4")
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, dao.Config{Addrs: []string{m.Addr()}})
	fits := make(chan error, 1)
	go func() {
		fits <- r.CheckStrategy(t.Context(), row, lock.Key, dao.ShopRights())
	}()
	select {
	case err := <-fits:
		if err == nil || !strings.Contains(err.Error(), "SUBSCRIBE {inventory}:call") {
			t.Errorf("%v; want that SUBSCRIBE was not answered", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits forever")
	}
}
