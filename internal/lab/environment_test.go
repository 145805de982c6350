package lab_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/api/route"
	"lockstep/internal/config"
	"lockstep/internal/evolution"
	"lockstep/internal/fault"
	"lockstep/internal/lab"
	"lockstep/internal/language"
	"lockstep/internal/server"
	"lockstep/internal/verdict"
	"lockstep/internal/witness"
)

// inside are replicas within this process.
type inside struct {
	t      *testing.T
	shops  map[string]*server.Server
	killed []string
}

func (i *inside) Start(ctx context.Context, n int, command func(name string) []string) (map[string]string, error) {
	i.shops = map[string]*server.Server{}
	addresses := map[string]string{}
	for _, name := range []string{"r1", "r2", "r3", "r4"}[:n] {
		arguments := append(command(name), "--server.addr=127.0.0.1:0", "--server.replica="+name)
		if arguments[0] != "serve" {
			i.t.Fatalf("%s is to %v", name, arguments)
		}
		settings := map[string]string{}
		for _, argument := range arguments[1:] {
			name, value, _ := strings.Cut(strings.TrimPrefix(argument, "--"), "=")
			settings[name] = value
		}
		cfg, err := config.FromMap(settings, evolution.Names())
		if err != nil {
			return nil, err
		}
		shop, err := server.Open(ctx, cfg, server.Options{Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			return nil, err
		}
		i.shops[name], addresses[name] = shop, shop.Addr
	}
	return addresses, nil
}

func (i *inside) Kill(name string) error {
	i.killed = append(i.killed, name)
	return i.shops[name].Close()
}
func (i *inside) Pause(string) error  { return lab.ErrNoSignals }
func (i *inside) Resume(string) error { return lab.ErrNoSignals }

func (i *inside) End() (err error) {
	for name, shop := range i.shops {
		if !slices.Contains(i.killed, name) {
			err = errors.Join(err, shop.Close())
		}
	}
	return err
}

// A lab also runs with replicas that are no processes, and reports its progress while it runs.
func TestLabRunsWithReplicasThatAreNoProcesses(t *testing.T) {
	t.Parallel()
	env := lab.Environment{NewReplicas: func() lab.Replicas { return &inside{t: t} }, EmbeddedAddr: fault.AnyPort}
	played := route.Mux((&lab.Runner{Environment: env}).Routes()...)
	answer := httptest.NewRecorder()
	played.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/labs/lost-update?lang=zh", http.NoBody))
	events := answer.Body.String()
	for _, want := range []string{
		"event: begins\ndata: \"v0\"\n", "event: drawn\n", `"observed":"broken","as_expected":true,"head":"v0 有缺陷：`,
		"event: begins\ndata: \"v1\"\n", `"observed":"holds","as_expected":true,"head":"v1 守住了承诺：`, `"command":"lab lost-update --lock v1"`,
	} {
		at := strings.Index(events, want)
		if at < 0 {
			t.Fatalf("nothing of %q, or too early:\n%s", want, answer.Body)
		}
		events = events[at+len(want):]
	}
	if strings.Contains(answer.Body.String(), "event: failed") {
		t.Errorf("it has failed:\n%s", answer.Body)
	}
}

// A lab kills a replica through the Replicas that started it.
func TestLabKillsAReplicaThroughItsStarter(t *testing.T) {
	t.Parallel()
	l := lab.Lab{
		Name: "one dies", Scenario: func(s *lab.Stage) { s.Kill("r2") },
		Hit: func(events []witness.Event) bool {
			return slices.ContainsFunc(events, func(e witness.Event) bool { return e.Kind == witness.KindDies && e.Replica == "r2" })
		},
		Expected: []lab.Expectation{{Locks: lab.LockNames{"v2"}, Verdict: verdict.Holds}},
	}
	replicas := &inside{t: t}
	result, err := l.Run(t.Context(), lab.Environment{NewReplicas: func() lab.Replicas { return replicas }, EmbeddedAddr: fault.AnyPort},
		lab.RunOptions{Lock: "v2", Redis: lab.Embedded, In: language.English})
	if err != nil || !slices.Equal(replicas.killed, []string{"r2"}) || !result.AsExpected() {
		t.Errorf("killed: %v, %v; want r2, and that it is seen: %s", replicas.killed, err, result.Reason)
	}
}

// A lab that needs more than its environment has is refused, and is listed with that need; all other labs need nothing.
func TestLabIsRefusedWhereItsNeedsAreNotMet(t *testing.T) {
	env := lab.TabEnvironment(func() lab.Replicas { return nil }, "")
	runner := &lab.Runner{Environment: env, Rights: "open"}
	for _, l := range runner.List(language.English) {
		_, err := func() (lab.Lab, error) {
			found, err := lab.Find(l.Name)
			if err != nil {
				return found, err
			}
			return found, found.CheckNeeds(env)
		}()
		if (err != nil) != (len(l.Needs) > 0) || (err != nil) != (l.Runs == "no") {
			t.Errorf("%s needs %q, and is for %q: %v", l.Name, l.Needs, l.Runs, err)
		}
	}
	for name, want := range map[string]error{"paused-writer": lab.ErrNoSignals, "failover": lab.ErrNoRedis, "partition": nil} {
		t.Run(name, func(t *testing.T) {
			l, err := lab.Find(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.CheckNeeds(env); !errors.Is(err, want) {
				t.Errorf("got %v; want %v", err, want)
			}
		})
	}
	answer := httptest.NewRecorder()
	route.Mux(runner.Routes()...).ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/labs/failover", http.NoBody))
	if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), "redis-server") {
		t.Errorf("%d %s; want it refused", answer.Code, answer.Body)
	}
}
