package dao_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/strategy"
	"lockstep/internal/test/redistest"
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

// A user who lacks one right that a lock or the shop needs is refused, and the right is named, and no other; a user who has them, or more,
// is not refused.
func TestRights(t *testing.T) {
	server := redistest.Start(t)
	root := open(t, dao.Config{Addrs: []string{server.Addr}})
	refusal := func(row strategy.Strategy, rights ...string) error {
		r, err := dao.Open(t.Context(), allow(t, root.Store, server.Addr, rights...))
		if err != nil {
			return err
		}
		defer r.Close()
		return r.Fits(t.Context(), row, lock.Key, dao.ShopRights)
	}
	tried := map[string]bool{}
	for _, row := range evolution.Table() {
		if row.Fits(root.Servers) != nil {
			continue
		}
		needs := dao.ShopRights.And(row.Rights(root.Servers, lock.Key)).Words()
		for _, rights := range [][]string{needs, {"+@all", "~*", "&*"}} {
			if err := refusal(row, rights...); err != nil {
				t.Errorf("%s: %v of a user with %v", row.Name, err, rights)
			}
		}
		for i, right := range needs {
			if tried[right] {
				continue
			}
			tried[right] = true
			err := refusal(row, slices.Concat(needs[:i], needs[i+1:])...)
			switch {
			case right == "+ping" && err != nil && strings.Contains(err.Error(), "'ping'"): // Redis says so
			case !errors.Is(err, strategy.ErrNoRights) || !strings.HasSuffix(err.Error(), "ACL SETUSER <redis.username> "+quoted(right)):
				t.Errorf("%s without %s: %v", row.Name, right, err)
			}
		}
	}
	row, _ := evolution.Find("v11")
	channels := " '&{distributedLock}:turn:*' '&{distributedLock}:wanted:*'"
	if err := refusal(row, "+@all", "~*"); err == nil || !strings.HasSuffix(err.Error(), channels) {
		t.Errorf("without channels: %v", err)
	}
	if err := refusal(row, "+@all", "&*", "%R~*"); err == nil || !strings.Contains(err.Error(), " '~inventory' '~{inventory}:run'") {
		t.Errorf("with keys to read alone: %v", err)
	}
	if keys := root.Store.DBSize(t.Context()).Val(); keys != 0 {
		t.Errorf("looking at the rights left %d keys", keys)
	}
}

func quoted(right string) string {
	if right[0] == '+' {
		return right
	}
	return "'" + right + "'"
}

// Redlock's nodes are asked, each by itself; of the stock's Redis the lock needs nothing.
func TestRightsOnNodes(t *testing.T) {
	row, _ := evolution.Find("redlock")
	var addrs []string
	for range 4 {
		server := redistest.Start(t)
		root := open(t, dao.Config{Addrs: []string{server.Addr}})
		allow(t, root.Store, server.Addr, slices.Concat(dao.ShopRights.Words(), row.Needs.Words())...)
		addrs = append(addrs, server.Addr)
	}
	cfg := dao.Config{Addrs: addrs[:1], RedlockAddrs: addrs[1:], Username: "shop", Password: "word"}
	if err := open(t, cfg).Fits(t.Context(), row, lock.Key, dao.ShopRights); err != nil {
		t.Error(err)
	}
	allow(t, open(t, dao.Config{Addrs: addrs[2:3]}).Store, addrs[2], "+@all", "~distributedLock", "~{inventory}:ready", "-eval")
	err := open(t, cfg).Fits(t.Context(), row, lock.Key, dao.ShopRights)
	if !errors.Is(err, strategy.ErrNoRights) || !strings.Contains(err.Error(), addrs[2]) || !strings.HasSuffix(err.Error(), " +eval") {
		t.Errorf("a node without +eval: %v", err)
	}
}
