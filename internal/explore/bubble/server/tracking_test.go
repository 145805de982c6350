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
	take    = `local taken = redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", 100000); redis.call("GET", KEYS[1]); return taken`
	prolong = `if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
		local reply = redis.call("PEXPIRE", KEYS[1], 100000); redis.call("GET", KEYS[1]); return reply`
	release = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end; return 0`
)

// The server tells clients of changes as a real Redis does: who is told, of what, and whether before the reply or after it.
func TestTrackingIsThatOfRedis(t *testing.T) {
	redis := redisserver.Start(t)
	for _, option := range []string{"", "NOLOOP"} {
		t.Run("OPTOUT"+option, func(t *testing.T) {
			want := play(t, option, func() talker { return dial(t, redis.Addr) })
			shared, err := server.NewShared("")
			if err != nil {
				t.Fatal(err)
			}
			defer shared.Close()
			s := server.New(shared, 1)
			names := "AB"
			got := play(t, option, func() talker {
				name := names[:1]
				names = names[1:]
				conn := s.Dial(name, 0)
				return &local{name, s, conn, bufio.NewReader(conn), t}
			})
			if got != want {
				t.Errorf("the server says\n%s\nRedis says\n%s", got, want)
			}
		})
	}
}

// talker is a client: it sends a command, and gives all that it then reads, up to the answer to a PING.
type talker interface{ say(command []string) string }

// play lets two clients take, prolong and release a lock, and gives all that they read.
func play(t *testing.T, option string, connect func() talker) string {
	t.Helper()
	clients := map[string]talker{"A": connect(), "B": connect()}
	var all strings.Builder
	for _, name := range []string{"A", "B"} {
		clients[name].say([]string{"HELLO", "3"})
		track := strings.Fields("CLIENT TRACKING ON OPTOUT " + option)
		fmt.Fprintf(&all, "%s tracks: %q\n", name, clients[name].say(track))
	}
	for _, line := range strings.Split(`A take; B take; B release; A prolong; A prolong; A release; B take; A take; B prolong; A release;
		B release; A take; B prolong; A release`, ";") {
		words := strings.Fields(line)
		script := map[string]string{"take": take, "prolong": prolong, "release": release}[words[1]]
		read := clients[words[0]].say([]string{"EVAL", script, "1", t.Name(), words[0] + "-value"})
		other := map[string]string{"A": "B", "B": "A"}[words[0]]
		fmt.Fprintf(&all, "%v: %q, and %s reads %q\n", words, read, other, clients[other].say(nil))
	}
	return all.String()
}

// remote is a connection to a real Redis.
type remote struct {
	conn net.Conn
	r    *bufio.Reader
	t    *testing.T
}

func dial(t *testing.T, addr string) *remote {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &remote{conn, bufio.NewReader(conn), t}
}

func (c *remote) say(command []string) string {
	c.t.Helper()
	if len(command) > 0 {
		c.write(command)
	}
	c.write([]string{"PING"})
	return until(c.t, c.r)
}

func (c *remote) write(command []string) {
	c.t.Helper()
	if _, err := c.conn.Write([]byte(proto.Strings(command...))); err != nil {
		c.t.Fatal(err)
	}
}

// until reads until the answer to a PING.
func until(t *testing.T, r *bufio.Reader) string {
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
		all.WriteString(strings.ReplaceAll(line, "_\r\n", "$-1\r\n")) // both are nil
	}
}

// local is a connection to the server under test.
type local struct {
	process string
	server  *server.Server
	conn    *server.ClientConn
	r       *bufio.Reader
	t       *testing.T
}

func (c *local) say(command []string) string {
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
	return until(c.t, c.r)
}

func (c *local) write(command []string) {
	c.t.Helper()
	if _, err := c.conn.Write([]byte(proto.Strings(command...))); err != nil {
		c.t.Fatal(err)
	}
}
