package cli

import (
	"net/http"
	"strings"
	"testing"

	"lockstep/internal/cluster"
	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// Settings that are changed at one replica apply to all, even to one that is restarted later. The front shows the lanes of all replicas.
func TestSettingsReachEveryReplica(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--replicas", "2", "--lock", "v4")
	watcher := c.Watch()
	if status := c.Ask(http.MethodPut, "/settings", `{"ttl_ms":7000,"think_ms":30}`, nil); status != 200 {
		t.Fatalf("PUT /settings: %d", status)
	}
	inForce := func() {
		t.Helper()
		for _, replica := range c.replicas() {
			one := shoptest.NewClient(t, replica.Address)
			_, text := one.Send(http.MethodGet, "/settings", "")
			if want := `{"ttl_ms":7000,"think_ms":30,"nested":0,"wait_ms":120000}`; !strings.HasPrefix(text, want) {
				t.Errorf("%s: %s; want %s", replica.Name, text, want)
			}
		}
	}
	inForce()
	for range 4 {
		var answer struct {
			Hold float64 `json:"hold_ms"`
		}
		if c.Ask(http.MethodPost, "/inventory/sale", "", &answer); answer.Hold < 30 {
			t.Errorf("a sale took %v ms", answer.Hold)
		}
	}
	watcher.AwaitText(`"name":"A"`)
	watcher.AwaitText(`"replica":"r2","spans"`)
	if status := c.Ask(http.MethodPost, "/replicas/r2", `{"do":"kill"}`, nil); status != 200 {
		t.Fatalf("POST /replicas/r2: %d", status)
	}
	watcher.AwaitText(`"says":"r2 dies"`)
	suite.Eventually(t, "r2 is up again", func() bool {
		r2 := c.replicas()[1]
		return r2.State == cluster.Up && r2.Restarts == 1
	})
	inForce()
}
