package dao_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/suite"
)

// An error names the reply of Redis, and the setting that remedies it, for the Redis of the stock and for a Redlock node.
func TestConnectErrorsNameRemedy(t *testing.T) {
	t.Parallel()
	for says, remedy := range map[string]string{
		"WRONGPASS invalid username-password pair":              "; set redis.username and redis.password (LOCKSTEP_REDIS_PASSWORD) to those",
		"NOAUTH Authentication required.":                       "; set redis.password (LOCKSTEP_REDIS_PASSWORD), and redis.username unless",
		"NOPERM this user has no permissions to run 'ping'":     "; grant the user of redis.username this right",
		"LOADING Redis is loading the dataset in memory":        "; start lockstep again when it has loaded its data",
		"BUSY Redis is busy running a script.":                  "; it is running a script: ",
		"MASTERDOWN Link with MASTER is down":                   "; it is a replica that has lost its master: set KEY to a master",
		"READONLY You can't write against a read only replica.": "; it is a replica: set KEY to a master",
		"ERR max number of clients reached":                     "; raise its maxclients, or close some of its connections",
		"DENIED Redis is running in protected mode":             "; set a password on the server and in redis.password, or ",
		"CLUSTERDOWN The cluster is down":                       "; ",
		"MOVED 1 127.0.0.1:7001":                                "; ",
		"ERR another reason\x1b[31m s3cret":                     " another reason [31m …",
	} {
		for key, cfg := range map[string]dao.Config{
			"redis.addrs": {}, "redis.redlock_addrs": {EmbeddedAddr: "127.0.0.1:0"},
		} {
			t.Run(says[:4]+", "+key, func(t *testing.T) {
				t.Parallel()
				m := miniredis.RunT(t)
				m.Server().SetPreHook(func(peer *server.Peer, command string, _ ...string) bool {
					if command == "HELLO" && strings.HasPrefix(says, "MASTERDOWN") { // a replica answers that
						return false
					}
					peer.WriteError(says)
					return true
				})
				if cfg.Password = "s3cret"; cfg.EmbeddedAddr == "" {
					cfg.Addrs = []string{m.Addr()}
				} else {
					cfg.RedlockAddrs = []string{m.Addr()}
				}
				words, _, _ := strings.Cut(says, "\x1b")
				_, err := dao.Open(t.Context(), cfg)
				wants := []string{key + ": ", "Redis at " + m.Addr() + " refuses: " + words, strings.ReplaceAll(remedy, "KEY", key)}
				for _, want := range wants {
					if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
						t.Errorf("got %v, want %s", err, want)
					}
				}
			})
		}
	}
}

// A server that is too old is refused in one sentence. Its version comes from HELLO, or from INFO if the server has no HELLO.
func TestOldServerIsRefused(t *testing.T) {
	t.Parallel()
	for name, hello := range map[string]string{
		"6.2.14": "*4\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n6.2.14\r\n", "5.0.14": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := miniredis.RunT(t)
			m.Server().SetPreHook(func(peer *server.Peer, command string, _ ...string) bool {
				switch {
				case command == "HELLO" && hello != "":
					peer.WriteRaw(hello)
				case command == "HELLO":
					peer.WriteError("ERR unknown command 'HELLO'")
				case command == "INFO":
					peer.WriteBulk("# Server\r\nredis_version:" + name + "\r\n")
				default:
					return false
				}
				return true
			})
			_, err := dao.Open(t.Context(), dao.Config{Addrs: []string{m.Addr()}})
			want := "redis.addrs: Redis at " + m.Addr() + " refuses: version " + name + " is too old: lockstep needs Redis 7 or newer"
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

// A connection error hides the password even if the server echoes the commands that it received.
func TestConnectErrorRedactsPassword(t *testing.T) {
	m := miniredis.RunT(t)
	m.Server().SetPreHook(func(peer *server.Peer, command string, args ...string) bool {
		peer.WriteError(fmt.Sprintf("ERR unknown command '%s', with args beginning with: '%.3s", command, strings.Join(args, "' '")))
		return true
	})
	_, err := dao.Open(t.Context(), dao.Config{Addrs: []string{m.Addr()}, Password: "s3cret"})
	if err == nil || !strings.HasSuffix(err.Error(), "refuses: ERR unknown command 'AUTH'") {
		t.Errorf("%v", err)
	}
}

// serve starts a server that calls answer for each connection.
func serve(t *testing.T, answer func(net.Conn)) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answer(conn)
		}
	}()
	return listener.Addr().String()
}

// An error repeats the reply of a server that hangs up, and says when a server is no Redis or stays silent.
func TestWrongEndpointsNameRemedy(t *testing.T) {
	t.Parallel()
	saying := func(line string) string {
		return serve(t, func(conn net.Conn) {
			_, _ = fmt.Fprint(conn, line)
			_, _ = conn.Read(make([]byte, 512)) // or what it said may be lost
			_ = conn.Close()
		})
	}
	web := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(web.Close)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	open := make(chan struct{})
	t.Cleanup(func() { close(open) })
	silent := serve(t, func(conn net.Conn) {
		<-open
		_ = conn.Close()
	})
	const http400 = `can't parse map reply: "HTTP/1.1 400 Bad Request"; start one there`
	for name, c := range map[string]struct {
		addr, says string
		tls        bool
	}{
		"too many clients": {
			addr: saying("-ERR max number of clients reached\r\n"), says: "clients reached; raise its maxclients",
		},
		"protected mode":     {addr: saying("-DENIED Redis is running in protected mode \r\n"), says: "; set a password on the server"},
		"web server":         {addr: web.Listener.Addr().String(), says: http400},
		"web server, by TLS": {addr: web.Listener.Addr().String(), says: "it does not use TLS: leave redis.tls false", tls: true},
		"secure web server":  {addr: secure.Listener.Addr().String(), says: "if it requires TLS, set redis.tls: true"},
		"the same, by TLS":   {addr: secure.Listener.Addr().String(), says: "failed to verify certificate", tls: true},
		"SSH": {
			addr: saying("SSH-2.0-OpenSSH_9.2p1\r\n"), says: `can't parse map reply: "SSH-2.0-OpenSSH_9.2p1"; start one there`,
		},
		"plain Redis, by TLS": {addr: redisserver.Start(t).Addr, says: "if it does not use TLS, leave redis.tls false, or ", tls: true},
		"silence":             {addr: silent, says: "no Redis answers at " + silent},
		"silence, by TLS":     {addr: silent, says: "no Redis answers at " + silent, tls: true},
		"nobody":              {addr: "127.0.0.1:1", says: "no Redis answers at 127.0.0.1:1: dial tcp 127.0.0.1:1: "},
		"no socket": {
			addr: "unix:///nowhere.sock", says: "no Redis answers at unix:///nowhere.sock: dial unix /nowhere.sock: ",
		},
		"an alert, as of TLS":  {addr: saying("\x15\x03\x01\x00\x02\x02\x46"), says: "if it requires TLS, set redis.tls: true"},
		"an end without words": {addr: saying(""), says: "no Redis answers at "},
	} {
		for key, cfg := range map[string]dao.Config{
			"redis.addrs":         {Addrs: []string{c.addr}},
			"redis.redlock_addrs": {RedlockAddrs: []string{c.addr}, EmbeddedAddr: "127.0.0.1:0"},
		} {
			cfg.TLS = c.tls
			t.Run(name+", "+key, func(t *testing.T) {
				t.Parallel()
				began := time.Now()
				_, err := dao.Open(t.Context(), cfg)
				if err == nil || !strings.HasPrefix(err.Error(), key+": ") || !strings.Contains(err.Error(), c.says) {
					t.Errorf("got %v, want %s: … %s", err, key, c.says)
				}
				if took := time.Since(began); took > 15*time.Second { // a busy machine is given time; go-redis's own bounds are 2 and 3 s
					t.Errorf("it took %v", took)
				}
			})
		}
	}
}

// An error tells Sentinels, nodes of a Cluster and single Redis servers apart, and names the setting to change.
func TestWrongServerKindsNameRemedy(t *testing.T) {
	t.Parallel()
	suite.Needs(t, "redis-server")
	single := redisserver.Start(t).Addr
	node := redisserver.Start(t, "--cluster-enabled", "yes", "--cluster-port", redisserver.FreePort(t)).Addr
	port := redisserver.FreePort(t)
	file := filepath.Join(t.TempDir(), "sentinel.conf")
	if err := os.WriteFile(file, []byte("sentinel monitor shop 127.0.0.1 "+port+" 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sentinel := redisserver.Start(t, file, "--sentinel").Addr
	in := func(addr string, db int) []string { return []string{dao.Address{Dial: addr, DB: db}.String()} }
	for name, c := range map[string]struct {
		cfg  dao.Config
		says string
	}{
		"a Sentinel": {
			cfg:  dao.Config{Addrs: in(sentinel, 0)},
			says: "refuses: it is a Sentinel; set redis.master_name to one of the masters that it watches: shop",
		},
		"another master's name": {
			cfg: dao.Config{Addrs: in(sentinel, 0), MasterName: "mymaster"},
			says: "refuses: the Sentinels watch no master with the name in redis.master_name; set redis.master_name to one of the masters " +
				"that the Sentinels watch: shop",
		},
		"a master that is gone": {
			cfg:  dao.Config{Addrs: in(sentinel, 0), MasterName: "shop"},
			says: "every server that the Sentinels or the Cluster name must be reachable",
		},
		"no Sentinel": {
			cfg:  dao.Config{Addrs: in(single, 0), MasterName: "shop"},
			says: "it is not a Sentinel: set redis.addrs to the Sentinels, or leave redis.master_name empty",
		},
		"a node": {cfg: dao.Config{Addrs: in(node, 0)}, says: "refuses: it is a node of a Cluster; set redis.cluster: true"},
		// the reply of Valkey 9 says that the number is too large
		"a node's database": {cfg: dao.Config{Addrs: in(node, 2)}, says: " database "},
		"no node":           {cfg: dao.Config{Addrs: in(single, 0), Cluster: true}, says: "; leave redis.cluster false"},
		"no such database": {cfg: dao.Config{Addrs: in(single, 99)},
			says: "; use an existing database in redis.addrs; CONFIG GET databases"},
		"a node for Redlock": {
			cfg: dao.Config{RedlockAddrs: in(node, 0), EmbeddedAddr: "127.0.0.1:0"}, says: "a Cluster; set redis.redlock_addrs to independent",
		},
		"Sentinel, for Redlock": {
			cfg:  dao.Config{RedlockAddrs: in(sentinel, 0), EmbeddedAddr: "127.0.0.1:0"},
			says: "a Sentinel; set redis.redlock_addrs to independent",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := dao.Open(t.Context(), c.cfg)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %s", err, c.says)
			}
		})
	}
}

// Locks, stock, notifier and nodes use the database and the socket of the address.
func TestOpenSupportsDatabasesAndSockets(t *testing.T) {
	suite.Needs(t, "redis-server")
	dir, err := os.MkdirTemp("", "lockstep") // the path of a socket has 100 characters at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "redis.sock")
	server := redisserver.Start(t, "--unixsocket", socket)
	outside := open(t, dao.Config{Addrs: []string{server.Addr}}).Store
	for db, addr := range []dao.Address{{Dial: socket}, {Dial: socket, DB: 1}, {Dial: server.Addr, DB: 2}} {
		t.Run(addr.String(), func(t *testing.T) {
			node := dao.Address{Dial: addr.Dial, DB: db + 8}
			r := open(t, dao.Config{Addrs: []string{addr.String()}, RedlockAddrs: []string{node.String()}})
			if r.Name != "Redis "+addr.String() || r.Addr != addr.String() || r.Nodes.String() != node.String() {
				t.Errorf("%q, %q, %q; want the Redis %s and the node %s", r.Name, r.Addr, r.Nodes, addr, node)
			}
			notified := make(chan string, 10)
			defer r.Notifier.Subscribe("channel", func(message string) { notified <- message })()
			<-notified // it has subscribed
			for name, client := range map[string]redis.UniversalClient{"store": r.Store, "lock": r.Lock, "node": r.Nodes[0]} {
				want := db
				if name == "node" {
					want = db + 8
				}
				if err := client.Set(t.Context(), name, 1, 0).Err(); err != nil {
					t.Fatal(err)
				}
				info, err := client.Info(t.Context(), "keyspace").Result()
				if err != nil || !strings.Contains(info, fmt.Sprintf("db%d:", want)) {
					t.Errorf("%s of %s: %q, %v; want a key in db%d", name, node, info, err, want)
				}
			}
			if err := outside.Publish(t.Context(), "channel", "hello").Err(); err != nil {
				t.Fatal(err)
			}
			if message := <-notified; message != "hello" {
				t.Errorf("got %q; want hello", message)
			}
		})
	}
}

// A majority of three needs three servers, so two names of one server are refused, unless the server does not allow INFO.
func TestRedlockNodesOnOneServerAreRefused(t *testing.T) {
	suite.Needs(t, "redis-server")
	_, port, err := net.SplitHostPort(redisserver.Start(t).Addr)
	if err != nil {
		t.Fatal(err)
	}
	other := redisserver.Start(t).Addr
	names := []string{"127.0.0.1:" + port, "localhost:" + port, other}
	_, err = dao.Open(t.Context(), dao.Config{EmbeddedAddr: "127.0.0.1:0", RedlockAddrs: names})
	want := "redis.redlock_addrs: " + names[0] + ", " + names[1] + " are one server, and Redlock needs independent masters: list each once"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	open(t, dao.Config{EmbeddedAddr: "127.0.0.1:0", RedlockAddrs: []string{names[0], other, "127.0.0.1:1"}}) // one is down

	refused := redisserver.Start(t, "--rename-command", "INFO", "")
	_, port, err = net.SplitHostPort(refused.Addr)
	if err != nil {
		t.Fatal(err)
	}
	names = []string{"127.0.0.1:" + port, "localhost:" + port, other}
	open(t, dao.Config{EmbeddedAddr: "127.0.0.1:0", RedlockAddrs: names}) // it cannot be known
}
