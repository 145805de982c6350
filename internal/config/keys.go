package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cast"
	"github.com/spf13/pflag"

	"lockstep/internal/dao"
	"lockstep/internal/service/history"
)

// key describes one setting.
type key struct {
	name      string          // group and name, such as lock.ttl
	byDefault string          // default, as text
	help      string          // help of the flag
	set       func(any) error // parses a value into the field of a Config; its error says what is allowed
}

// path returns the name of the key.
func (k key) path() string { return k.name }

// printable returns a value as an error may show it. It hides secrets, and texts that may be a secret under the wrong key.
func (k key) printable(value any) string {
	text := fmt.Sprintf("%#v", value)
	if IsSecret(k.name) || strings.Contains(text, "@") {
		return "this value"
	}
	return text
}

// IsSecret reports whether a key or a group may hold a secret, also one that was meant for a neighbouring key.
func IsSecret(name string) bool {
	group, _, _ := strings.Cut(name, ".")
	return group == "admin" || group == "redis"
}

// variable returns the name of the key's environment variable: LOCKSTEP_LOCK_VERSION for lock.version.
func (k key) variable() string {
	return envPrefix + "_" + strings.ToUpper(strings.ReplaceAll(k.name, ".", "_"))
}

// source returns where the value of the key comes from: a flag, the environment, a line of the file, or the default.
func (k key) source(flags *pflag.FlagSet, from file) string {
	line, ok := from.lines[k.name]
	switch {
	case flags.Changed(k.name):
		return "flag"
	case os.Getenv(k.variable()) != "":
		return "environment"
	case ok:
		return fmt.Sprintf("%s:%d", from.name, line)
	default:
		return "default"
	}
}

// maxSegments is the largest number of stock segments. Each write names the keys of all of them.
const maxSegments = 64

// keys returns the settings, which set the fields of c. versions are the names of the locks.
func keys(c *Config, versions []string) []key {
	return []key{
		{"server.addr", "127.0.0.1:8080", "where the server listens", setAddr(&c.Server.Addr)},
		{"server.hosts", "", "further names of the server, as browsers call it; docs/ARCHITECTURE.md says when they are looked at",
			setList(&c.Server.Hosts, areHosts, "names without a port, such as shop.example.com")},
		{"server.peers", "", "host:port of the other replicas, so that each shows what all of them do",
			setList(&c.Server.Peers, areAddrs, "host:port of other servers, such as 10.0.0.2:8080,10.0.0.3:8080")},
		{"server.replica", "", "name of this process in logs and answers; empty: the machine's name and the process id",
			setText(&c.Server.Replica)},
		{"server.clock_offset", "0s", "how far the clock of its locks is ahead of the machine's; less than 0: behind",
			setDuration(&c.Server.ClockOffset, -time.Hour, time.Hour)},
		{"admin.token", "", "needed for PUT, DELETE, and every POST but a participant's; empty: everybody may on loopback, and nobody beyond it",
			setToken(&c.Admin.Token)},
		{"admin.token_file", "", "file with the admin.token, which neither the arguments nor the environment then show", // after admin.token
			setTokenFile(&c.Admin)},
		{"admin.open", "false", "everybody may PUT, DELETE and POST, beyond loopback too", setBool(&c.Admin.Open)},
		{"redis.addrs", "", "host:port, redis://… or unix://… of a real Redis; empty: an embedded one", setAddrs(&c.Redis, &c.Redis.Addrs)},
		{"redis.embedded_addr", "127.0.0.1:6380", "where the embedded Redis listens", setAddr(&c.Redis.EmbeddedAddr)},
		{"redis.master_name", "", "the Sentinels' name of the master; redis.addrs are then the Sentinels", setText(&c.Redis.MasterName)},
		{"redis.cluster", "false", "redis.addrs are nodes of a Redis Cluster", setBool(&c.Redis.Cluster)},
		{"redis.redlock_addrs", "", "host:port of three or more independent masters, for redlock; empty: five embedded ones, if the Redis is",
			setNodes(&c.Redis)},
		{"redis.username", "", "user name for the Redis", setIfGiven(&c.Redis.Username)},
		{"redis.password", "", "password for the Redis", setIfGiven(&c.Redis.Password)},
		{"redis.tls", "false", "talk TLS to the Redis", setTLS(&c.Redis)},
		{"redis.tls_ca", "", "PEM file of the authority the Redis's certificate comes from; empty: the machine's own", setText(&c.Redis.TLSCA)},
		{"redis.tls_cert", "", "PEM file of lockstep's own certificate, if the Redis asks for one", setText(&c.Redis.TLSCert)},
		{"redis.tls_key", "", "PEM file of the private key of redis.tls_cert", setText(&c.Redis.TLSKey)},
		{"redis.pool_size", "0", "connections to a real Redis that each client has at most: a process has two clients, and one for each node " +
			"of redlock; 0: ten a core", setNumber(&c.Redis.PoolSize, 0, 10_000)},
		{"lock.version", "v0", "the lock: " + strings.Join(versions, ", "), setOneOf(&c.Settings.Lock, versions)},
		{"lock.ttl", "10s", "expiry of the lock, from v2 on", setDuration(&c.Settings.TTL, 10*time.Millisecond, 24*time.Hour)},
		{"lock.retry_interval", "20ms", "pause between attempts: polling waiters, failed renewals, optimistic sales",
			setDuration(&c.Settings.RetryInterval, time.Millisecond, time.Minute)},
		{"lock.wait_timeout", "30s", "longest wait for the lock", setDuration(&c.Settings.WaitTimeout, time.Millisecond, time.Hour)},
		{"lock.hand_off_limit", "64", "how often a process may hand the lock to its own next sale before another process's turn, from v9 on; " +
			"v10 and v11 also stop at 3 × (1 + its sales that waited when it got the lock)",
			setNumber(&c.Settings.HandOffLimit, 0, 1_000_000)},
		{"lock.segments", "8", "in how many segments segmented divides the stock, each with a lock of its own; a run keeps its number",
			setNumber(&c.Settings.Segments, 1, maxSegments)},
		{"sale.think_time", "0s", "pause of a sale between reading the stock and writing it", setDuration(&c.Settings.Think, 0, time.Hour)},
		{"sale.nested", "0", "how many nested calls take the lock again", setNumber(&c.Settings.Nested, 0, 100)},
		{"inventory.initial", "200", "stock of a first run, and of one after Redis came back empty",
			setNumber(&c.Settings.Initial, 0, history.MaxStock)},
		{"inventory.max_orders", "200000", "how many orders the ledger keeps at least of the run that is on, and as many of those before",
			setNumber(&c.MaxOrders, 2, 100_000_000)},
		{"log.level", "info", "debug (every lock and unlock), info (every sale), warn or error",
			setOneOf(&c.Log.Level, []string{"debug", "info", "warn", "error"})},
	}
}

// setText sets a text.
func setText(to *string) func(any) error {
	return func(value any) (err error) {
		if *to, err = cast.ToStringE(value); err != nil {
			return errors.New("want one text")
		}
		if strings.ContainsFunc(*to, unicode.IsControl) {
			return errors.New("want a text without a line end or any other control character, also at its end")
		}
		return nil
	}
}

// setToken sets a token that can be sent in a header unchanged. A header loses spaces at the ends, and quotes would be sent along.
func setToken(to *string) func(any) error {
	return func(value any) error {
		err := setText(to)(value)
		switch {
		case err != nil:
			return err
		case strings.TrimSpace(*to) != *to:
			return errors.New("want a text without spaces around it")
		case isQuoted(*to, `"`), isQuoted(*to, "'"):
			return errors.New("want a text without quotes around it: env-files keep them")
		default:
			return nil
		}
	}
}

// minFileToken is the minimum length of a token in a file, in bytes. Nobody has to type such a token, and a shorter one is soon guessed.
const minFileToken = 8

// setTokenFile sets the token from a file, without the line end at its end. admin.token must have been set before. An error does not show
// the path, which may be a token under the wrong key.
func setTokenFile(a *Admin) func(any) error {
	return func(value any) error {
		if err := setText(&a.TokenFile)(value); err != nil || a.TokenFile == "" {
			return err
		}
		if a.Token != "" {
			return errors.New("admin.token is set, too; want one of them")
		}
		content, err := os.ReadFile(a.TokenFile)
		if err != nil {
			var pathError *fs.PathError
			if errors.As(err, &pathError) {
				err = pathError.Err
			}
			return fmt.Errorf("want the path of a file that can be read: %w", err)
		}
		token := strings.TrimSuffix(strings.TrimSuffix(string(content), "\n"), "\r")
		if len(token) < minFileToken {
			return fmt.Errorf("the file holds %d bytes; want a token of %d or more", len(token), minFileToken)
		}
		if err := setToken(&a.Token)(token); err != nil {
			return fmt.Errorf("the token in the file: %w", err)
		}
		return nil
	}
}

// isQuoted reports whether a text begins and ends with this quote.
func isQuoted(text, quote string) bool {
	return len(text) > 1 && strings.HasPrefix(text, quote) && strings.HasSuffix(text, quote)
}

// setBool sets a boolean.
func setBool(to *bool) func(any) error {
	return func(value any) (err error) {
		if *to, err = cast.ToBoolE(value); err != nil {
			return errors.New("want true or false")
		}
		return nil
	}
}

// setTLS sets whether to use TLS. A URL with rediss:// has set it already, and wins.
func setTLS(r *dao.Config) func(any) error {
	return func(value any) error {
		var tls bool
		err := setBool(&tls)(value)
		r.TLS = r.TLS || tls
		return err
	}
}

// setIfGiven sets a text; an empty one leaves the value that a URL has set.
func setIfGiven(to *string) func(any) error {
	return func(value any) error {
		var text string
		err := setText(&text)(value)
		*to = cmp.Or(text, *to)
		return err
	}
}

// setOneOf sets one of the allowed texts.
func setOneOf(to *string, allowed []string) func(any) error {
	return func(value any) error {
		if err := setText(to)(value); err != nil || !slices.Contains(allowed, *to) {
			return fmt.Errorf("want one of %s", strings.Join(allowed, ", "))
		}
		return nil
	}
}

// setDuration sets a duration between two bounds.
func setDuration(to *time.Duration, from, upTo time.Duration) func(any) error {
	return func(value any) (err error) {
		text, _ := value.(string) // a bare number has no unit
		if *to, err = time.ParseDuration(text); err != nil || *to < from || *to > upTo {
			return fmt.Errorf("want a number with its unit, such as 10s or 500ms, from %v to %v", from, upTo)
		}
		return nil
	}
}

// setNumber sets a number between two bounds. It refuses forms such as 0200, which some programs read as 128 and others as 200.
func setNumber[N int | int64](to *N, from, upTo N) func(any) error {
	return func(value any) error {
		text := strings.TrimSpace(fmt.Sprint(value))
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < int64(from) || n > int64(upTo) || strconv.FormatInt(n, 10) != text {
			return fmt.Errorf("want a whole number from %d to %d, in decimal digits only: 200, not 0200, 0xc8, 2e2 or 1_000", from, upTo)
		}
		*to = N(n)
		return nil
	}
}
