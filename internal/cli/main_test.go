package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/pflag"
	"go.uber.org/goleak"

	"lockstep/internal/cli/server"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/api"
	"lockstep/internal/shop/config"
	"lockstep/internal/test/redistest"
	"lockstep/internal/test/suite"
)

// runAsLockstep in the environment makes this test's program the command itself, for tests that start processes.
const runAsLockstep = "RUN_AS_LOCKSTEP"

func TestMain(m *testing.M) {
	ofTests := len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "-test.") // such as a worker that fuzzes
	if os.Getenv(runAsLockstep) != "" && !ofTests {
		os.Exit(Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	for _, variable := range os.Environ() { // the developer's own settings, and language
		if name, _, _ := strings.Cut(variable, "="); suite.IsSetting(name) || strings.HasPrefix(name, "LC_") || name == "LANG" {
			if err := os.Unsetenv(name); err != nil {
				panic(err)
			}
		}
	}
	if err := os.Setenv(runAsLockstep, "1"); err != nil { // for the processes that tests start
		panic(err)
	}
	suite.Parallel()
	goleak.VerifyTestMain(m)
}

// patientBuyers wait for their lock however busy the machine is that runs the tests.
const patientBuyers = "--lock.wait_timeout=2m"

// patientNodes have three seconds to answer: a twentieth of the expiry of a lock on several.
const patientNodes = "--lock.ttl=1m"

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// locks are the strategies that exclude.
var locks = []string{"v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "redlock", "local", "atomic", "optimistic"}

// sample gives the locks that are named, in the quick suite, and all of them in the long one.
func sample(names ...string) []string {
	if suite.Long {
		return locks
	}
	return names
}

// eachRedis runs a test on an embedded Redis and on a real one.
func eachRedis(t *testing.T, test func(t *testing.T, redisFlags []string)) {
	t.Helper()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, []string{"--redis.embedded_addr", anyPort, patientNodes})
	})
	t.Run("real", func(t *testing.T) {
		t.Parallel()
		test(t, append(onNodes(t), "--redis.addrs", redistest.Start(t).Addr))
	})
}

// onNodes are the flags of real nodes for redlock, which have time to answer.
func onNodes(t *testing.T) []string {
	t.Helper()
	var addrs []string
	for range 3 {
		addrs = append(addrs, redistest.Start(t).Addr)
	}
	return []string{"--redis.redlock_addrs", strings.Join(addrs, ","), patientNodes}
}

// testServer is a server of the test's own, and a client of its Redis that is nobody's.
type testServer struct {
	*server.Server
	addr    string
	t       testing.TB
	cfg     config.Config
	outside redis.UniversalClient
}

func start(t testing.TB, flags ...string) *testServer {
	t.Helper()
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(set, evolution.Names())
	if err := set.Parse(append([]string{"--server.addr", anyPort, patientBuyers}, flags...)); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(set, evolution.Names())
	if err != nil {
		t.Fatal(err)
	}
	own, err := server.Open(t.Context(), cfg, server.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{Server: own, addr: own.Addr, t: t, cfg: cfg, outside: own.Redis.Store}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := own.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// as gives the same server to another test.
func (s *testServer) as(t testing.TB) *testServer {
	return &testServer{Server: s.Server, addr: s.addr, t: t, outside: s.outside}
}

func (s *testServer) url() string { return "http://" + s.addr }

// ask sends a request and reads its answer into into, which may be nil; it gives the status.
func (s *testServer) ask(method, path, body string, into any) int {
	s.t.Helper()
	status, text := s.send(s.t.Context(), method, path, body, nil)
	if into != nil {
		decode(s.t, text, into)
	}
	return status
}

// together runs a test for each of these at the same time, however few cores there are: they wait more than they work.
func together(t *testing.T, names []string, test func(t *testing.T, name string)) {
	t.Helper()
	var all sync.WaitGroup
	for _, name := range names {
		all.Go(func() { t.Run(name, func(t *testing.T) { test(t, name) }) })
	}
	all.Wait()
}

func decode(t testing.TB, text []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func (s *testServer) send(ctx context.Context, method, path, body string, header http.Header) (int, []byte) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, s.url()+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	request.Host = header.Get("Host") // net/http sends this one; empty: the address
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		if ctx.Err() == nil {
			s.t.Errorf("%s %s: %v", method, path, err)
		}
		return 0, nil
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Errorf("%s %s: %v", method, path, err)
	}
	return response.StatusCode, text
}

// sell asks for one sale; the code is empty if it was made.
func (s *testServer) sell() (status int, code string) {
	s.t.Helper()
	var answer api.ErrorAnswer
	status = s.ask(http.MethodPost, "/inventory/sale", "", &answer)
	return status, answer.Error.Code
}

func (s *testServer) report() history.Report {
	s.t.Helper()
	var report history.Report
	if status := s.ask(http.MethodGet, "/inventory", "", &report); status != http.StatusOK {
		s.t.Fatalf("GET /inventory: %d", status)
	}
	return report
}

// eventually waits until a condition holds.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("after %v still not: %s", patience, what)
		case <-time.After(5 * time.Millisecond): // a sale in flight is soon over
		}
	}
}

// command runs a command line and gives its exit code and what it printed.
func command(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Run(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}
