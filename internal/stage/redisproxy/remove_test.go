package redisproxy_test

import (
	"testing"

	"lockstep/internal/stage/redisproxy"
)

func TestATrapCanBeRemoved(t *testing.T) {
	proxy, client, _ := open(t)
	proxy.Remove(proxy.Catch(is("set", "key"), redisproxy.LoseRequest))
	if err := client.Set(t.Context(), "key", "a", 0).Err(); err != nil {
		t.Errorf("SET after the trap was removed: %v", err)
	}
}
