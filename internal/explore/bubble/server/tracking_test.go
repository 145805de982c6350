package server_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2/proto"

	"lockstep/internal/test/redisserver"

	"lockstep/internal/explore/bubble/server"
)

const (
	takeScript   = `local taken = redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", 100000); redis.call("GET", KEYS[1]); return taken`
	extendScript = `if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
		local reply = redis.call("PEXPIRE", KEYS[1], 100000); redis.call("GET", KEYS[1]); return reply`
	releaseScript = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end; return 0`
)

// The simulated server sends the same invalidations as a real Redis: to the same clients, for the same keys, and before or after the same
// replies.
func TestTrackingInvalidatesAsRedis(t *testing.T) {
	redis := redisserver.Start(t)
	for _, option := range []string{"", "NOLOOP"} {
		t.Run("OPTOUT"+option, func(t *testing.T) {
			want := playClients(t, option, func() client { return dial(t, redis.Addr) })
			shared, err := server.NewShared("")
			if err != nil {
				t.Fatal(err)
			}
			defer shared.Close()
			s := server.New(shared, 1)
			names := "AB"
			got := playClients(t, option, func() client {
				name := names[:1]
				names = names[1:]
				conn := s.Dial(name, 0)
				return &simulatedClient{name, s, conn, bufio.NewReader(conn), t}
			})
			if got != want {
				t.Errorf("got from the simulated server\n%s\nwant, as from Redis\n%s", got, want)
			}
		})
	}
}

// client is a client of either server. send sends a command, and returns everything that was read up to the answer to a PING.
type client interface{ send(command []string) string }

// playClients lets two clients take, extend and release a lock, and returns everything that they read.
func playClients(t *testing.T, option string, connect func() client) string {
	t.Helper()
	clients := map[string]client{"A": connect(), "B": connect()}
	var all strings.Builder
	for _, name := range []string{"A", "B"} {
		clients[name].send([]string{"HELLO", "3"})
		track := strings.Fields("CLIENT TRACKING ON OPTOUT " + option)
		fmt.Fprintf(&all, "%s tracks: %q\n", name, clients[name].send(track))
	}
	for _, line := range strings.Split(`A take; B take; B release; A prolong; A prolong; A release; B take; A take; B prolong; A release;
		B release; A take; B prolong; A release`, ";") {
		words := strings.Fields(line)
		script := map[string]string{"take": takeScript, "prolong": extendScript, "release": releaseScript}[words[1]]
		read := clients[words[0]].send([]string{"EVAL", script, "1", t.Name(), words[0] + "-value"})
		other := map[string]string{"A": "B", "B": "A"}[words[0]]
		fmt.Fprintf(&all, "%v: %q, and %s reads %q\n", words, read, other, clients[other].send(nil))
	}
	return all.String()
}

// remoteClient is a client that is connected to a real Redis.
type remoteClient struct {
	conn net.Conn
	r    *bufio.Reader
	t    *testing.T
}

// dial connects to a real Redis.
func dial(t *testing.T, addr string) *remoteClient {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &remoteClient{conn, bufio.NewReader(conn), t}
}

func (c *remoteClient) send(command []string) string {
	c.t.Helper()
	if len(command) > 0 {
		c.write(command)
	}
	c.write([]string{"PING"})
	return readUntilPong(c.t, c.r)
}

func (c *remoteClient) write(command []string) {
	c.t.Helper()
	if _, err := c.conn.Write([]byte(proto.Strings(command...))); err != nil {
		c.t.Fatal(err)
	}
}

// readUntilPong reads up to the answer to a PING.
func readUntilPong(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	var all strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if line == "+PONG\r\n" {
			return all.String()
		}
		all.WriteString(strings.ReplaceAll(line, "_\r\n", "$-1\r\n")) // Both are null replies, in RESP3 and in RESP2.
	}
}

// simulatedClient is a client that is connected to the simulated server.
type simulatedClient struct {
	process string
	server  *server.Server
	conn    *server.ClientConn
	r       *bufio.Reader
	t       *testing.T
}

func (c *simulatedClient) send(command []string) string {
	c.t.Helper()
	if len(command) > 0 {
		c.write(command)
	}
	for _, line := range c.server.HeldConns() {
		if _, err := line.Answer(); err != nil {
			c.t.Fatal(err)
		}
	}
	for _, line := range c.server.PushingConns() {
		if line.Process == c.process {
			line.DeliverPushes()
		}
	}
	c.write([]string{"PING"})
	return readUntilPong(c.t, c.r)
}

func (c *simulatedClient) write(command []string) {
	c.t.Helper()
	if _, err := c.conn.Write([]byte(proto.Strings(command...))); err != nil {
		c.t.Fatal(err)
	}
}
