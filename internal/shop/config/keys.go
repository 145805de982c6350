package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cast"
	"github.com/spf13/pflag"

	"lockstep/internal/service/history"
)

// key is one setting: its name, its default, its help, and how its text becomes a value. The error of set says what is allowed.
type key struct {
	name      string
	byDefault string
	help      string
	set       func(*Config, any) error
}

func (k key) path() string { return k.name }

// told is a value as an error may show it: never a secret, nor a value that may hold a mistyped one.
func (k key) told(value any) string {
	text := fmt.Sprintf("%#v", value)
	secret := k.name == "admin.token" || k.name == "redis.username" || k.name == "redis.password"
	address := strings.HasPrefix(k.name, "redis.") && strings.Contains(k.name, "addr")
	if secret || address && !harmless(value) || strings.Contains(text, "@") {
		return "this value"
	}
	return text
}

// variable is the key's name in the environment: LOCKSTEP_LOCK_VERSION for lock.version.
func (k key) variable() string {
	return envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_"))
}

// source names where the key's value comes from.
func (k key) source(flags *pflag.FlagSet, from file) string {
	line, inFile := from.lines[k.name]
	switch {
	case flags.Changed(k.name):
		return "flag"
	case os.Getenv(k.variable()) != "":
		return "environment"
	case inFile:
		return fmt.Sprintf("%s:%d", from.name, line)
	default:
		return "default"
	}
}

func keys(versions []string) []key {
	return []key{
		{"server.addr", "127.0.0.1:8080", "where the server listens",
			func(c *Config, v any) error { return setAddr(&c.Server.Addr, v) }},
		{"server.hosts", "", "further names of the server, as browsers call it; docs/ARCHITECTURE.md says when they are looked at",
			func(c *Config, v any) error { return setHosts(&c.Server.Hosts, v) }},
		{"server.peers", "", "host:port of the other replicas, so that each shows what all of them do",
			func(c *Config, v any) error { return setPeers(&c.Server.Peers, v) }},
		{"server.replica", "", "name of this process in logs and answers; empty: the machine's name and the process id",
			func(c *Config, v any) error { return setText(&c.Server.Replica, v) }},
		{"server.clock_offset", "0s", "how far the clock of its locks is ahead of the machine's; less than 0: behind",
			func(c *Config, v any) error { return setDuration(&c.Server.ClockOffset, v, -time.Hour, time.Hour) }},
		{"admin.token", "", "needed for PUT, DELETE, and every POST but a sale; empty: everybody may on loopback, and nobody beyond it",
			func(c *Config, v any) error { return setText(&c.Admin.Token, v) }},
		{"admin.open", "false", "everybody may PUT, DELETE and POST, beyond loopback too",
			func(c *Config, v any) error { return setBool(&c.Admin.Open, v) }},
		{"redis.addrs", "", "host:port of a real Redis; empty: an embedded one",
			func(c *Config, v any) error { return setAddrs(&c.Redis, v) }},
		{"redis.embedded_addr", "127.0.0.1:6380", "where the embedded Redis listens",
			func(c *Config, v any) error { return setAddr(&c.Redis.EmbeddedAddr, v) }},
		{"redis.master_name", "", "the Sentinels' name of the master; redis.addrs are then the Sentinels",
			func(c *Config, v any) error { return setText(&c.Redis.MasterName, v) }},
		{"redis.cluster", "false", "redis.addrs are nodes of a Redis Cluster",
			func(c *Config, v any) error { return setBool(&c.Redis.Cluster, v) }},
		{"redis.redlock_addrs", "", "host:port of three or more independent masters, for redlock; empty: five embedded ones, if the Redis is",
			func(c *Config, v any) error { return setNodes(&c.Redis.RedlockAddrs, v) }},
		{"redis.username", "", "user name for the Redis",
			func(c *Config, v any) error { return setIfGiven(&c.Redis.Username, v) }},
		{"redis.password", "", "password for the Redis",
			func(c *Config, v any) error { return setIfGiven(&c.Redis.Password, v) }},
		{"redis.tls", "false", "talk TLS to the Redis",
			func(c *Config, v any) error {
				var tls bool
				err := setBool(&tls, v)
				c.Redis.TLS = c.Redis.TLS || tls
				return err
			}},
		{"redis.tls_ca", "", "PEM file of the authority the Redis's certificate comes from; empty: the machine's own",
			func(c *Config, v any) error { return setText(&c.Redis.TLSCA, v) }},
		{"lock.version", "v0", "the lock: " + strings.Join(versions, ", "),
			func(c *Config, v any) error { return setOneOf(&c.Lock.Version, v, versions) }},
		{"lock.ttl", "10s", "expiry of the lock, from v2 on",
			func(c *Config, v any) error { return setDuration(&c.Lock.TTL, v, 10*time.Millisecond, 24*time.Hour) }},
		{"lock.retry_interval", "20ms", "pause between attempts: polling waiters, failed renewals, optimistic sales",
			func(c *Config, v any) error {
				return setDuration(&c.Lock.RetryInterval, v, time.Millisecond, time.Minute)
			}},
		{"lock.wait_timeout", "30s", "longest wait for the lock",
			func(c *Config, v any) error { return setDuration(&c.Lock.WaitTimeout, v, time.Millisecond, time.Hour) }},
		{"lock.hand_off_limit", "64", "how often a process may hand the lock to its own next sale before another process's turn, from v8 on",
			func(c *Config, v any) error { return setNumber(&c.Lock.HandOffLimit, v, 0, 1_000_000) }},
		{"sale.think_time", "0s", "pause of a sale between reading the stock and writing it",
			func(c *Config, v any) error { return setDuration(&c.Sale.ThinkTime, v, 0, time.Hour) }},
		{"sale.nested", "0", "how many nested calls take the lock again",
			func(c *Config, v any) error { return setNumber(&c.Sale.Nested, v, 0, 100) }},
		{"inventory.initial", "200", "stock of a first run, and of one after Redis came back empty",
			func(c *Config, v any) error { return setNumber(&c.Inventory.Initial, v, 0, history.MaxStock) }},
		{"inventory.max_orders", "200000", "how many orders the ledger keeps of the run that is on, and as many of those before it together",
			func(c *Config, v any) error { return setNumber(&c.Inventory.MaxOrders, v, 2, 100_000_000) }},
		{"log.level", "info", "debug (every lock and unlock), info (every sale), warn or error",
			func(c *Config, v any) error {
				return setOneOf(&c.Log.Level, v, []string{"debug", "info", "warn", "error"})
			}},
	}
}

func setText(to *string, value any) (err error) {
	if *to, err = cast.ToStringE(value); err != nil {
		return errors.New("want one text")
	}
	return nil
}

func setBool(to *bool, value any) (err error) {
	if *to, err = cast.ToBoolE(value); err != nil {
		return errors.New("want true or false")
	}
	return nil
}

func setOneOf(to *string, value any, allowed []string) error {
	if err := setText(to, value); err != nil || !slices.Contains(allowed, *to) {
		return fmt.Errorf("want one of %s", strings.Join(allowed, ", "))
	}
	return nil
}

// setIfGiven keeps the value that a URL gave, unless the key has one.
func setIfGiven(to *string, value any) error {
	var text string
	if err := setText(&text, value); err != nil {
		return err
	}
	*to = cmp.Or(text, *to)
	return nil
}

func setDuration(to *time.Duration, value any, from, upTo time.Duration) error {
	text, _ := value.(string) // a bare number has no unit
	d, err := time.ParseDuration(text)
	if err != nil || d < from || d > upTo {
		return fmt.Errorf("want a number with its unit, such as 10s or 500ms, from %v to %v", from, upTo)
	}
	*to = d
	return nil
}

func setNumber[N int | int64](to *N, value any, from, upTo N) error {
	n, err := strconv.ParseInt(strings.TrimSpace(fmt.Sprint(value)), 10, 64)
	if err != nil || n < int64(from) || n > int64(upTo) {
		return fmt.Errorf("want a whole number from %d to %d", from, upTo)
	}
	*to = N(n)
	return nil
}
