package config_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lockstep/internal/dao"
)

// A list of addresses may be a YAML sequence, or a text with commas.
func TestRedisAddrsSyntax(t *testing.T) {
	want := []string{"127.0.0.1:7001", "127.0.0.1:7002"}
	for name, file := range map[string]string{
		"list":                "redis:\n  cluster: true\n  addrs: [127.0.0.1:7001, 127.0.0.1:7002]\n",
		"commas":              "redis:\n  cluster: true\n  addrs: 127.0.0.1:7001,127.0.0.1:7002\n",
		"commas with a blank": "redis:\n  cluster: true\n  addrs: 127.0.0.1:7001, 127.0.0.1:7002\n",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := loadConfig(t, file); err != nil || !reflect.DeepEqual(got.Redis.Addrs, want) {
				t.Errorf("got %q, %v; want %q", got.Redis.Addrs, err, want)
			}
		})
	}
}

// The parts of a Redis URL set the other options of redis, and an error never contains the password.
func TestRedisURLSetsOptions(t *testing.T) {
	if got, err := loadConfig(t, "redis.addrs: redis:6379"); err != nil || len(got.Redis.Addrs) != 1 || got.Redis.Addrs[0] != "redis:6379" {
		t.Errorf("a host called redis: %v, %v", got.Redis, err) // url.Parse takes it for a URL with the scheme redis
	}
	want := dao.Config{Addrs: []string{"db:6379"}, EmbeddedAddr: "127.0.0.1:6380", Username: "me", Password: "s3cret", TLS: true}
	got, err := loadConfig(t, "redis.addrs: rediss://me:s3cret@db:6379")
	if err != nil || !reflect.DeepEqual(got.Redis, want) {
		t.Errorf("%+v, %v; want %+v", got.Redis, err, want)
	}
	got, err = loadConfig(t, "redis.addrs: db:6379\nredis.password: s3cret\nredis.username: me\nredis.tls: true")
	if err != nil || !reflect.DeepEqual(got.Redis, want) {
		t.Errorf("%+v, %v; want %+v", got.Redis, err, want)
	}
	got, err = loadConfig(t, "redis.addrs: [redis://me:p%40%2F%2C%20%23w@db:6379]")
	if err != nil || got.Redis.Password != "p@/, #w" || got.Redis.Username != "me" || got.Redis.Addrs[0] != "db:6379" {
		t.Errorf("a password in percents: %+v, %v", got.Redis, err)
	}
	for file, want := range map[string][]string{
		"redis.addrs: redis://db:6379":                                                              {"db:6379"},
		"redis.addrs: redis://db:6379/":                                                             {"db:6379"},
		"redis.addrs: redis://db:6379/0":                                                            {"db:6379"},
		"redis.addrs: redis://db:6379/2":                                                            {"redis://db:6379/2"},
		"redis.addrs: redis://u:pw@[::1]:6379/2":                                                    {"redis://[::1]:6379/2"},
		"redis.addrs: unix:///run/redis.sock":                                                       {"unix:///run/redis.sock"},
		"redis.addrs: unix://u:pw@/run/redis.sock?db=2":                                             {"unix:///run/redis.sock?db=2"},
		"redis:\n  master_name: m\n  addrs: [redis://a:1/2, redis://b:1/2]":                         {"redis://a:1/2", "redis://b:1/2"},
		"redis:\n  cluster: true\n  addrs: [redis://u:p@a:1/0, redis://u:p@b:1]":                    {"a:1", "b:1"},
		"redis:\n  addrs: a:1\n  redlock_addrs: [redis://a:1/2, unix:///run/r.sock, 'redis://b:1']": {"a:1"},
	} {
		t.Run(file, func(t *testing.T) {
			got, err := loadConfig(t, file)
			if err != nil || !slices.Equal(got.Redis.Addrs, want) {
				t.Errorf("got %q, %v; want %q", got.Redis.Addrs, err, want)
			}
			replica, err := loadConfig(t, "", "--redis.addrs="+strings.Join(got.Redis.Addrs, ","),
				"--redis.redlock_addrs="+strings.Join(got.Redis.RedlockAddrs, ","),
				fmt.Sprint("--redis.cluster=", got.Redis.Cluster), "--redis.master_name="+got.Redis.MasterName) // as replicas are started
			if err != nil || !slices.Equal(replica.Redis.Addrs, want) || !slices.Equal(replica.Redis.RedlockAddrs, got.Redis.RedlockAddrs) {
				t.Errorf("given to a replica: got %+v, %v; want %q", replica.Redis, err, want)
			}
		})
	}
	for _, bad := range []string{
		"redis://me:s3cret@db", "http://me:s3cret@db:1", "redis://me:s3cret@db:6379/nonsense", "redis://:pa/s3cret@db:1",
		"redis://:p@s3cret@db:x", "redis://me:s3cret@db:6379?db=1",
		"redis://me:12#s3cret@db:6379",
	} {
		t.Run(bad, func(t *testing.T) {
			if _, err := loadConfig(t, "redis.addrs: "+bad); err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %v; want an error without the password", err)
			}
		})
	}
}
