package cli

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/shop/api"
	"lockstep/internal/test/redistest"
)

// On a Redis that has the command, MONITOR shows it, and no script. On any other, delex is refused, and the message says which server this
// is and what it lacks.
func TestDelex(t *testing.T) {
	redis := redistest.Start(t)
	s := start(t, "--redis.addrs", redis.Addr)
	there := s.Redis.Servers
	var answer struct {
		api.LockAnswer
		api.ErrorAnswer
	}
	status := s.ask("PUT", "/lock", `{"version":"delex"}`, &answer)
	if there.CompareAndDelete == "" {
		says := "DELEX (Redis 8.4 or newer) or DELIFEQ (Valkey 9 or newer), and " + there.Redis + " has neither"
		if status != 409 || answer.Error.Code != "no_command" || !strings.HasSuffix(answer.Error.Message, says) {
			t.Errorf("PUT /lock: %d %+v; want 409 no_command, …%s", status, answer.Error, says)
		}
		if run := s.report(); run.Lock != "v0" {
			t.Errorf("it sells with %s", run.Lock)
		}
		soon, cancel := context.WithTimeout(t.Context(), patience) // or it serves for ever
		defer cancel()
		for _, start := range []string{"serve", "cluster"} {
			var stderr bytes.Buffer
			arguments := []string{start, "--server.addr", anyPort, "--redis.addrs", redis.Addr, "--lock.version", "delex"}
			if code := Run(soon, arguments, io.Discard, &stderr); code != 2 || !strings.Contains(stderr.String(), says) {
				t.Errorf("%s: exit code %d: %s; want …%s", start, code, &stderr, says)
			}
		}
		return
	}
	want := map[string][]string{
		"DELEX":   {"set distributedLock OWNER ex 10 NX", "delex distributedLock IFEQ OWNER"},
		"DELIFEQ": {"set distributedLock OWNER ex 10 NX", "DELIFEQ distributedLock OWNER"},
	}[there.CompareAndDelete]
	got := monitor(t, redis.Addr, "distributedLock", func() {
		if status, code := s.sell(); status != 200 {
			t.Errorf("sale: %d %s", status, code)
		}
	})
	if !slices.Equal(got, want) {
		t.Errorf("MONITOR of %s shows\n  %s\nwant\n  %s", there.Redis, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}
