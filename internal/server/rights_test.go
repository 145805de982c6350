package server_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/api"
	"lockstep/internal/dao"
	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/server"
	"lockstep/internal/strategy"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// user makes a user of these rights alone at some servers. It returns a client that may do all at the last, and the flags of that user.
func user(t *testing.T, rights strategy.Rights, addrs ...string) (root redis.UniversalClient, flags []string) {
	t.Helper()
	command := []any{"ACL", "SETUSER", "shop", "reset", "on", ">p"}
	for _, right := range rights {
		command = append(command, right)
	}
	for _, addr := range addrs {
		root = singleClient(t, addr)
		mustSucceed(t, root.Do(t.Context(), command...).Err())
	}
	return root, []string{"--redis.username", "shop", "--redis.password", "p"}
}

// Two processes whose user has the rights of the table alone sell under each lock, and Redis refuses them nothing.
func TestRightsOfALockSuffice(t *testing.T) {
	suite.Needs(t, "redis-server")
	t.Parallel()
	var nodes []string
	stock := redisserver.Start(t).Addr
	for range 3 {
		nodes = append(nodes, redisserver.Start(t).Addr)
	}
	there, err := dao.Open(t.Context(), dao.Config{Addrs: []string{stock}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = there.Close() })
	servers := there.Servers
	servers.Nodes = len(nodes)
	for _, row := range evolution.Table() {
		if !suite.Long && !slices.Contains([]string{"v3", "v6", "v11", "redlock", "optimistic", "delex"}, row.Name) { // each takes a second
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			if err := row.CheckServers(servers); err != nil {
				t.Skip(err)
			}
			rights := dao.ShopRights().Union(row.Rights(servers, lock.Key))
			root, flags := user(t, rights, append(slices.Clone(nodes), stock)...)
			flags = append(flags, "--redis.addrs", stock, "--lock.version", row.Name)
			if row.OnNodes {
				flags = append(flags, "--redis.redlock_addrs", strings.Join(nodes, ","))
			}
			shops := []*shoptest.Server{shoptest.Start(t, flags...), shoptest.Start(t, flags...)}
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					if status, code := shops[i%2].Sell(); status != 200 {
						t.Errorf("sale: %d %s", status, code)
					}
				})
			}
			wg.Wait()
			for _, request := range [][3]string{
				{"PUT", "/inventory", `{"stock":5}`}, {"PUT", "/lock", fmt.Sprintf(`{"version":%q}`, row.Name)},
				{"DELETE", "/lock?force=true", ""}, {"DELETE", "/lock?holder=me", ""},
				{"GET", "/orders/none", ""}, {"GET", "/readyz", ""},
			} {
				var answer api.ErrorAnswer
				if status := shops[0].Ask(request[0], request[1], request[2], &answer); status >= 400 && answer.Error.Code != "no_order" {
					t.Errorf("%v: %d %+v", request, status, answer)
				}
			}
			refused, err := root.Do(t.Context(), "ACL", "LOG").Slice()
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range refused {
				said := fmt.Sprint(entry)
				isIn := func(optional string) bool { return strings.Contains(said, optional) }
				if !slices.ContainsFunc([]string{"config|get", "delex", "delifeq"}, isIn) {
					t.Errorf("refused: %s", said)
				}
			}
			root.Do(t.Context(), "ACL", "LOG", "RESET")
		})
	}
}

// A change that was made is answered with success, even if the new state cannot be read for the answer.
func TestUnreadableAnswerDoesNotUndoAChange(t *testing.T) {
	t.Parallel()
	addr := redisserver.Start(t).Addr
	root, asShop := user(t, strategy.Rights{"+@all", "~*", "&*"}, addr)
	s := shoptest.Start(t, append(asShop, "--redis.addrs", addr, "--lock.version", "v4")...)
	mustSucceed(t, root.Do(t.Context(), "ACL", "SETUSER", "shop", "-type").Err()) // by which the lock's key is looked at
	mustSucceed(t, root.Set(t.Context(), lock.Key, "somebody", 0).Err())
	for _, ask := range []struct{ method, path, body, version string }{
		{"DELETE", "/lock?force=true", "", "v4"}, {"PUT", "/lock", `{"version":"v6"}`, "v6"},
	} {
		var answer api.LockAnswer
		status := s.Ask(ask.method, ask.path, ask.body, &answer)
		if status != 200 || answer.Version != ask.version || answer.Key.Type != "unknown" {
			t.Errorf("%s: %d %+v; want %s, and a key of which nothing is known", ask.method, status, answer, ask.version)
		}
	}
	if n := root.Exists(t.Context(), lock.Key).Val(); n != 0 {
		t.Error("the lock is still there")
	}
	if status := s.Ask("GET", "/lock", "", nil); status != 503 {
		t.Errorf("GET: %d; want 503, as there is no answer", status)
	}
}

// A lock that needs a right which is not there is refused, at the start and by PUT /lock; the message has what gives the right, and once it
// is given, PUT /lock is done. A right of the shop itself is missed at the start.
func TestLockWithoutItsRightsIsRefused(t *testing.T) {
	t.Parallel()
	addr := redisserver.Start(t).Addr
	root, asShop := user(t, strategy.Rights{"+@all", "~*", "&{inventory}:call"}, addr)
	const cure = " '&{distributedLock}:turn:*' '&{distributedLock}:wanted:*'"
	s := shoptest.Start(t, append(asShop, "--redis.addrs", addr, "--lock.version", "v4")...)
	cfg := s.Config
	cfg.Server.Addr, cfg.Settings.Lock = shoptest.AnyPort, "v11"
	if _, err := server.Open(t.Context(), cfg, server.Options{}); err == nil || !strings.HasSuffix(err.Error(), cure) {
		t.Errorf("at the start: %v; want …%s", err, cure)
	}
	if err := server.ServeCluster(t.Context(), cfg, server.ClusterOptions{N: 1}); err == nil || !strings.HasSuffix(err.Error(), cure) {
		t.Errorf("of a cluster: %v; want …%s", err, cure)
	}
	for _, given := range []bool{false, true} {
		if given {
			root.Do(t.Context(), "ACL", "SETUSER", "shop", "&{distributedLock}:turn:*", "&{distributedLock}:wanted:*")
		}
		var answer api.ErrorAnswer
		status := s.Ask("PUT", "/lock", `{"version":"v11"}`, &answer)
		refused := status == 409 && answer.Error.Code == "no_rights" && strings.HasSuffix(answer.Error.Message, cure)
		if given && status != 200 || !given && !refused {
			t.Errorf("given %t: %d %+v", given, status, answer)
		}
	}
	root.Do(t.Context(), "ACL", "SETUSER", "shop", "-hset") // a right of the shop itself
	cfg.Settings.Lock = "v0"
	if _, err := server.Open(t.Context(), cfg, server.Options{Log: slog.New(slog.DiscardHandler)}); err == nil ||
		!strings.Contains(err.Error(), "ACL SETUSER <redis.username> +ping") {
		t.Errorf("without a right of the shop: %v", err)
	}
}
