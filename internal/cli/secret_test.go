package cli

import (
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lockstep/internal/cluster"
	"lockstep/internal/test/redisserver"
	"lockstep/internal/test/shoptest"
)

// No error at the start of a command contains a password or token, whether its Redis URL and flags are right or mistyped.
func TestStartErrorsHidePasswords(t *testing.T) {
	unused := shoptest.UnusedAddr(t)
	for _, args := range [][]string{
		{"--redis.addrs", "redis://me:s3cret@" + unused},
		{"--redis.addrs", "redis://me:s3cret@" + unused, "--redis.cluster"},
		{"--redis.addrs", "redis://me:s3cret@" + unused, "--redis.master_name", "mymaster"},
		{"--redis.addrs", "me:s3cret@" + unused},
		{"--redis.addrs", "redis:/me:s3cret@" + unused},
		{"--redis.addrs", "redis://me:s3cret@" + unused + ",redis://me:s3cret@nowhere"},
		{"--redis.addrs", "redis://me:my", "s3cret@" + unused}, // a space without quotes
		{"--redis.addrs", "redis://me:my", "s3cret", "word@" + unused},
		{"--redis.password=", "s3cret"},
		{"--admin.token=", "s3cret"},
		{"--admin.open", "s3cret"},
		{"--redis.tls", "s3cret"},
		{"--redis.tls=s3cret"},
		{"--redis.master_name=", "s3cret"},
		{"-redis.password=s3cret"},
		{"--redis.pasword=s3cret"},
		{"--redis.pasword", "s3cret"},
	} {
		for _, name := range []string{"serve", "cluster", "job", "burst", ""} {
			line := slices.Concat(strings.Fields(name), args)
			if name != "job" { // job does not listen; burst starts a server if none answers
				line = append(line, "--server.addr", shoptest.UnusedAddr(t))
			}
			code, stdout, stderr := command(t, line...)
			if code != 2 || stdout != "" || stderr == "" || strings.Contains(stderr, "s3cret") {
				t.Errorf("%q: exit code %d, %s%s; want 2 and nothing of the password", line, code, stdout, stderr)
			}
		}
	}
}

// The password of a Redis is not in a cluster's output, its pages, or the arguments of its replicas.
func TestClusterHidesPasswords(t *testing.T) {
	t.Parallel()
	redis, addr := redisserver.Start(t, "--requirepass", "s3cret"), shoptest.UnusedAddr(t)
	line, finish := serve(t, "cluster", "--replicas", "1", "--server.addr", addr, "--redis.addrs", "redis://default:s3cret@"+redis.Addr)
	output := line.String()
	front := shoptest.NewClient(t, addr)
	if status, code := front.Sell(); status != 200 {
		t.Errorf("a sale: %d %s", status, code)
	}
	for _, path := range []string{"/", "/healthz", "/readyz", "/lock", "/inventory", "/metrics", "/replicas"} {
		_, text := front.Send(http.MethodGet, path, "")
		output += text
	}
	var replicas []cluster.ReplicaAnswer
	front.Ask(http.MethodGet, "/replicas", "", &replicas)
	if runtime.GOOS == "linux" {
		arguments, err := os.Open("/proc/" + strconv.Itoa(replicas[0].PID) + "/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		defer arguments.Close()
		text, err := io.ReadAll(arguments)
		if err != nil || !strings.Contains(string(text), redis.Addr) {
			t.Errorf("the replica's arguments: %q, %v", text, err)
		}
		output += string(text)
	}
	http.DefaultClient.CloseIdleConnections()
	if code := finish(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if !strings.Contains(output, redis.Addr) || strings.Contains(output, "s3cret") {
		t.Errorf("%s\nwant where the Redis is, and not its password", output)
	}
}
