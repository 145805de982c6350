package job_test

import (
	"errors"
	"testing"
	"time"

	"lockstep/internal/cluster/job"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
	"lockstep/internal/test/redistest"
)

// A replica of Redis may lack the last runs: no verdict is made of what it has.
func TestAReplicaHasNoRecord(t *testing.T) {
	client := redisclient.Single(redisclient.Config{Addrs: []string{redistest.Start(t).Addr}})
	defer client.Close()
	runs := &job.Runs{Client: client, Name: "job", Every: job.Every(time.Second), Events: 4}
	if _, _, err := runs.All(t.Context()); err != nil {
		t.Errorf("of a master: %v", err)
	}
	if err := client.Do(t.Context(), "REPLICAOF", "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if runs, _, err := runs.All(t.Context()); !errors.Is(err, lock.ErrUnavailable) {
		t.Errorf("of a replica: %v, %v; want that it refuses", runs, err)
	}
}
