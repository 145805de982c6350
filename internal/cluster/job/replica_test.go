package job_test

import (
	"errors"
	"strings"
	"testing"

	"lockstep/internal/cluster/job"
	"lockstep/internal/config"
	"lockstep/internal/dao"
	"lockstep/internal/dao/redisclient"
	"lockstep/internal/evolution"
	"lockstep/internal/lock"
	"lockstep/internal/test/redisserver"
)

// A replica of Redis may lack the latest runs, so it gives no verdict.
func TestRecordRefusesReplicaOfRedis(t *testing.T) {
	client := redisclient.Single(redisclient.Config{Addrs: []string{redisserver.Start(t).Addr}})
	defer client.Close()
	record := job.Record{Client: client, Every: every}
	if _, err := record.Runs(t.Context()); err != nil {
		t.Errorf("of a master: %v", err)
	}
	if err := client.Do(t.Context(), "REPLICAOF", "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	if runs, err := record.Runs(t.Context()); !errors.Is(err, lock.ErrUnavailable) {
		t.Errorf("of a replica: %v, %v; want that it refuses", runs, err)
	}
}

// A job whose lock needs a missing right is refused before any process is started. The message contains the command that grants the right.
func TestJobWithoutRightsIsRefused(t *testing.T) {
	addr := redisserver.Start(t).Addr
	client := redisclient.Single(redisclient.Config{Addrs: []string{addr}})
	defer client.Close()
	if err := client.Do(t.Context(), "ACL", "SETUSER", "shop", "on", ">p", "+@all", "~*", "&{inventory}:call").Err(); err != nil {
		t.Fatal(err)
	}
	row, err := evolution.Find("v11")
	if err != nil {
		t.Fatal(err)
	}
	cfg := config.Config{Redis: dao.Config{Addrs: []string{addr}, Username: "shop", Password: "p"}}
	_, err = job.Session{Config: cfg, Every: every, Lock: row, Replicas: 1}.Run(t.Context())
	if cure := " '&{job}:wanted:*'"; err == nil || !strings.HasSuffix(err.Error(), cure) {
		t.Errorf("%v; want …%s", err, cure)
	}
}
