package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/lock"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/shop/api"
	"lockstep/internal/test/redistest"
	"lockstep/internal/test/suite"
)

const (
	userVariable     = "LOCKSTEP_REDIS_USERNAME"
	passwordVariable = "LOCKSTEP_REDIS_PASSWORD" //nolint:gosec // a name
)

// asUser makes a user of these rights alone at some servers, and lets the servers of this test be it.
func asUser(t *testing.T, rights strategy.Rights, addrs ...string) redis.UniversalClient {
	t.Helper()
	t.Setenv(userVariable, "shop")
	t.Setenv(passwordVariable, "p")
	var root redis.UniversalClient
	for _, addr := range addrs {
		r, err := dao.Open(t.Context(), dao.Config{Addrs: []string{addr}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		root = r.Store
		command := []any{"ACL", "SETUSER", "shop", "reset", "on", ">p"}
		for _, right := range rights.Words() {
			command = append(command, right)
		}
		if err := root.Do(t.Context(), command...).Err(); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// Two processes whose user has the rights of the table alone sell under each lock, and Redis refuses them nothing.
func TestTheRightsOfALockSuffice(t *testing.T) {
	suite.Needs(t, "redis-server")
	var nodes []string
	stock := redistest.Start(t).Addr
	for range 3 {
		nodes = append(nodes, redistest.Start(t).Addr)
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
			if err := row.Fits(servers); err != nil {
				t.Skip(err)
			}
			rights := dao.ShopRights.And(row.Rights(servers, lock.Key))
			root := asUser(t, rights, append(slices.Clone(nodes), stock)...)
			flags := []string{"--redis.addrs", stock, "--lock.version", row.Name}
			if row.OnNodes {
				flags = append(flags, "--redis.redlock_addrs", strings.Join(nodes, ","))
			}
			shops := []*testServer{start(t, flags...), start(t, flags...)}
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					if status, code := shops[i%2].sell(); status != 200 {
						t.Errorf("sale: %d %s", status, code)
					}
				})
			}
			wg.Wait()
			for _, request := range [][3]string{
				{"PUT", "/inventory", `{"stock":5}`}, {"PUT", "/lock", fmt.Sprintf(`{"version":%q}`, row.Name)}, {"DELETE", "/lock", ""},
				{"GET", "/orders/none", ""}, {"GET", "/readyz", ""},
			} {
				var answer api.ErrorAnswer
				if status := shops[0].ask(request[0], request[1], request[2], &answer); status >= 400 && answer.Error.Code != "no_order" {
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

// A lock that needs a right which is not there is refused, at the start and by PUT /lock; the message has what gives the right, and once it
// is given, PUT /lock is done.
func TestALockWithoutItsRightsIsRefused(t *testing.T) {
	addr := redistest.Start(t).Addr
	root := asUser(t, "+@all ~* &{inventory}:call", addr)
	const cure = "ACL SETUSER <redis.username> '&{distributedLock}:turn:*' '&{distributedLock}:wanted:*'"
	soon, cancel := context.WithTimeout(t.Context(), patience) // or it serves for ever
	defer cancel()
	for _, start := range []string{"serve", "cluster", "job"} {
		var stderr bytes.Buffer
		arguments := []string{start, "--redis.addrs", addr, "--lock.version", "v11", "--server.addr", anyPort}
		says := cure
		if start == "job" {
			arguments, says = []string{start, "--redis.addrs", addr, "--lock", "v11"}, strings.ReplaceAll(cure, "distributedLock", "job")
		}
		if code := Run(soon, arguments, io.Discard, &stderr); code != 2 || !strings.Contains(stderr.String(), says) {
			t.Errorf("%s: exit code %d: %s; want …%s", start, code, &stderr, says)
		}
	}
	s := start(t, "--redis.addrs", addr, "--lock.version", "v4")
	for _, given := range []bool{false, true} {
		if given {
			root.Do(t.Context(), "ACL", "SETUSER", "shop", "&{distributedLock}:turn:*", "&{distributedLock}:wanted:*")
		}
		var answer api.ErrorAnswer
		status := s.ask("PUT", "/lock", `{"version":"v11"}`, &answer)
		refused := status == 409 && answer.Error.Code == "no_rights" && strings.HasSuffix(answer.Error.Message, cure)
		if given && status != 200 || !given && !refused {
			t.Errorf("given %t: %d %+v", given, status, answer)
		}
	}
}
