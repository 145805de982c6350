package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"lockstep/internal/config"
	"lockstep/internal/dao"
	"lockstep/internal/service/history"
	"lockstep/internal/test/suite"
)

var versions = []string{"v0", "v1"}

// loadConfig loads the configuration from a file with this text and from flags; file "": no file.
func loadConfig(t testing.TB, file string, flags ...string) (config.Config, error) {
	t.Helper()
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(set, versions)
	if file != "" {
		dir, err := os.MkdirTemp("", "lockstep") // t.TempDir has the name of the test, and an error has the path
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		path := filepath.Join(dir, "config.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		flags = append(flags, "--config", path)
	}
	if err := set.Parse(flags); err != nil {
		t.Fatal(err)
	}
	return config.Load(set, versions)
}

func defaults() config.Config {
	return config.Config{
		Server: config.Server{Addr: "127.0.0.1:8080"},
		Redis:  dao.Config{EmbeddedAddr: "127.0.0.1:6380"},
		Settings: history.Settings{
			Lock: "v0", Initial: 200,
			TTL: 10 * time.Second, RetryInterval: 20 * time.Millisecond, WaitTimeout: 30 * time.Second, HandOffLimit: 64, Segments: 8,
		},
		MaxOrders: 200_000,
		Log:       config.Log{Level: "info"},
	}
}

// TestMain removes lockstep's variables from the environment.
func TestMain(m *testing.M) {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); suite.IsSetting(name) {
			if err := os.Unsetenv(name); err != nil {
				panic(err)
			}
		}
	}
	m.Run()
}

func TestDefaultConfiguration(t *testing.T) {
	got, err := loadConfig(t, "")
	if want := defaults(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}

// The config.yaml of the repository contains every key with its default value.
func TestRepositoryFileHasDefaults(t *testing.T) {
	text, err := os.ReadFile("../../config.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, err := loadConfig(t, string(text))
	got.File = ""
	if want := defaults(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	set := pflag.NewFlagSet("test", pflag.ContinueOnError)
	config.AddFlags(set, versions)
	set.VisitAll(func(flag *pflag.Flag) {
		name := flag.Name[strings.LastIndex(flag.Name, ".")+1:]
		if flag.Name != "config" && !strings.Contains(string(text), "  "+name+": ") {
			t.Errorf("config.yaml does not say %s", flag.Name)
		}
	})
	const bound = "v10 and v11 also stop at 3 × (1 + its sales that waited when it got the lock)" // same wording in config.yaml
	if help := set.Lookup("lock.hand_off_limit").Usage; !strings.Contains(help, bound) || !strings.Contains(string(text), bound) {
		t.Errorf("the help of lock.hand_off_limit is %q; it and config.yaml say %q", help, bound)
	}
}

func TestGroupMayContainOnlyComments(t *testing.T) {
	got, err := loadConfig(t, "sale:\n  # nested: 3\nlock:\n  version: v1\n")
	if err != nil || got.Settings.Lock != "v1" || got.Settings.Nested != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestFlagOverridesEnvironmentOverridesFile(t *testing.T) {
	file := "sale:\n  nested: 1\n"
	if got, err := loadConfig(t, file); err != nil || got.Settings.Nested != 1 {
		t.Errorf("file: %d, %v", got.Settings.Nested, err)
	}
	t.Setenv("LOCKSTEP_SALE_NESTED", "2")
	if got, err := loadConfig(t, file); err != nil || got.Settings.Nested != 2 {
		t.Errorf("environment: %d, %v", got.Settings.Nested, err)
	}
	if got, err := loadConfig(t, file, "--sale.nested", "3"); err != nil || got.Settings.Nested != 3 {
		t.Errorf("flag: %d, %v", got.Settings.Nested, err)
	}
}

func TestHostsSyntax(t *testing.T) {
	want := []string{"shop.example.com", "10.0.0.7", "::1"}
	for name, file := range map[string]string{
		"list": "server.hosts: [shop.example.com, 10.0.0.7, '::1']", "text": "server.hosts: shop.example.com, 10.0.0.7 ::1",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := loadConfig(t, file); err != nil || !reflect.DeepEqual(got.Server.Hosts, want) {
				t.Errorf("got %q, %v; want %q", got.Server.Hosts, err, want)
			}
		})
	}
}

func TestMisplacedSecretIsHidden(t *testing.T) {
	for _, file := range []string{"redis.password: [s3cret]", "admin:\n  token:\n    a: s3cret", "redis: redis://:s3cret@db:1"} {
		t.Run(file, func(t *testing.T) {
			if _, err := loadConfig(t, file); err == nil || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("got %v; want an error without the secret", err)
			}
		})
	}
}

func TestInvalidConfigurationIsRefused(t *testing.T) {
	for _, c := range []struct{ file, says string }{
		{"lock.version: v42", `lock.version: "v42" is not allowed: want one of v0, v1`},
		{"lock:\n  version: 4", `lock.version: "4" is not allowed: want one of v0, v1`},
		{"lock.ttl: -1s", `lock.ttl: "-1s" is not allowed: want a number with its unit, such as 10s or 500ms, from 10ms to 24h`},
		{"lock.ttl: 0s", `lock.ttl: "0s" is not allowed`},
		{"lock.ttl: ten", `lock.ttl: "ten" is not allowed`},
		{"lock.ttl: 10", `lock.ttl: "10" is not allowed`},
		{"lock.retry_interval: 0s", `lock.retry_interval: "0s" is not allowed`},
		{"lock.wait_timeout: 2h", `lock.wait_timeout: "2h" is not allowed`},
		{"sale.nested: -1", `sale.nested: "-1" is not allowed: want a whole number from 0 to 100, in decimal digits only`},
		{"sale.nested: 1.5", `sale.nested: "1.5" is not allowed`},
		{"inventory.initial: many", `inventory.initial: "many" is not allowed: want a whole number from 0 to 1000000000`},
		{"inventory.initial: [1]", `inventory.initial`},
		{"server.addr: 8080", `server.addr: "8080" is not allowed: want host:port`},
		{
			"server.clock_offset: 2h",
			`server.clock_offset: "2h" is not allowed: want a number with its unit, such as 10s or 500ms, from -1h0m0s to 1h0m0s`,
		},
		{"server.clock_offset: -2h", `server.clock_offset: "-2h" is not allowed`},
		{"server.clock_offset: 15", `server.clock_offset: "15" is not allowed`},
		{"server.addr: 127.0.0.1:http", `server.addr`},
		{"server.addr: 127.0.0.1:99999", `server.addr`},
		{"redis.addrs: nowhere", `redis.addrs: this value is not allowed: want host:port, redis://user:password@host:port/database or unix://`},
		{"redis.addrs: db:66379", `redis.addrs: this value is not allowed`},
		{"redis.addrs: [a:1, b:2]", `redis.addrs: 2 addresses are not allowed: more than one needs redis.master_name`},
		{"redis.password: x", `config.yaml:1: redis.addrs: empty is not allowed with redis.username, redis.password or redis.tls`},
		{"redis:\n  addrs: [a:1]\n  tls_ca: ca.pem", `config.yaml:3: redis.tls_ca: a file is not allowed without redis.tls`},
		{"redis:\n  addrs: [a:1]\n  tls_cert: c.pem", `config.yaml:3: redis.tls_cert: a file is not allowed without redis.tls: true`},
		{"redis:\n  addrs: [a:1]\n  tls: true\n  tls_cert: c.pem", `config.yaml:4: redis.tls_cert: a file is not allowed without redis.tls_key`},
		{"redis:\n  addrs: [rediss://a:1]\n  tls_key: k.pem", `config.yaml:3: redis.tls_key: a file is not allowed without redis.tls_cert`},
		{"redis:\n  tls_key: k.pem", `config.yaml:2: redis.addrs: empty is not allowed with`},
		{"redis.addrs: redis://a", `redis.addrs: this value is not allowed: want the port, too: redis://127.0.0.1:6379`},
		{"redis.addrs: redis://a:1/two", `redis.addrs: this value is not allowed: want the number of a database after the port`},
		{"redis.addrs: redis://a:1/-2", `want the number of a database after the port`},
		{"redis.addrs: redis://a:1/99999999999999999999", `want the number of a database after the port`},
		{"redis.addrs: unix://run/redis.sock", `want unix:// and the path of a socket, which begins with /`},
		{"redis.addrs: unix:///", `want unix:// and the path of a socket`},
		{"redis.addrs: unix:///run/redis.sock?db=x", `want unix:// and the path of a socket`},
		{"redis.addrs: unix:///run/redis.sock?database=1", `want unix:// and the path of a socket`},
		{"redis:\n  addrs: unix:///run/redis.sock\n  tls: true", `redis.addrs: a unix socket is not allowed with redis.tls`},
		{"redis:\n  cluster: true\n  addrs: redis://a:1/2", `config.yaml:3: redis.addrs: a database is not allowed with redis.cluster`},
		{"redis:\n  cluster: true\n  addrs: unix:///run/redis.sock", `redis.addrs: a unix socket is not allowed with redis.cluster or`},
		{"redis:\n  master_name: m\n  addrs: unix:///run/redis.sock", `redis.addrs: a unix socket is not allowed with redis.cluster or`},
		{"redis:\n  master_name: m\n  addrs: redis://a:1/2,b:1", `redis.addrs: different databases are not allowed`},
		{"redis:\n  cluster: true\n  addrs: redis://u:p@a:1,redis://u:q@b:1", `this value is not allowed: want the same user and password`},
		{"redis.redlock_addrs: a:1,b:1", `redis.redlock_addrs: this value is not allowed: want at least three different masters`},
		{"redis.redlock_addrs: redis://a:1/1,redis://a:1/2,redis://a:1/3", `want at least three different masters`},
		{"redis.cluster: maybe", `redis.cluster: this value is not allowed: want true or false`},
		{"redis.cluster: true", `redis.addrs: empty is not allowed with`},
		{"redis:\n  addrs: [a:1]\n  cluster: true\n  master_name: m", `redis.cluster: true is not allowed with redis.master_name`},
		{"admin:\n  open: true\n  token: x", `config.yaml:2: admin.open: true is not allowed with admin.token`},
		{"admin.open: maybe", `admin.open: this value is not allowed: want true or false`},
		{"server.hosts: [http://shop.example.com]", `server.hosts`},
		{"server.hosts: [a, shop.example.com:8080]", `is not allowed: want names without a port, such as shop.example.com`},
		{"log.level: loud", `log.level: "loud" is not allowed: want one of debug, info, warn, error`},
		{"lock.verson: v1", `there is no key lock.verson; there are server.addr, `},
		{"lock: v1", `lock: one value is not allowed: it is a group of keys; there are server.addr`},
		{"lock: [", `configuration file: `},
	} {
		t.Run(c.file, func(t *testing.T) {
			if _, err := loadConfig(t, c.file); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v; want %q", err, c.says)
			}
		})
	}
	if _, err := loadConfig(t, "", "--config", "nowhere.yaml"); err == nil || !strings.Contains(err.Error(), "nowhere.yaml") {
		t.Errorf("a file that is not there: %v", err)
	}
	t.Setenv("LOCKSTEP_LOCK_TTL", "ten")
	if _, err := loadConfig(t, "lock.ttl: 5s"); err == nil || !strings.HasPrefix(err.Error(), `environment: lock.ttl: "ten" is not allowed`) {
		t.Errorf("bad variable: %v", err)
	}
	if _, err := loadConfig(t, "", "--lock.ttl", "12"); err == nil || !strings.HasPrefix(err.Error(), `flag: lock.ttl: "12" is not allowed`) {
		t.Errorf("bad flag: %v", err)
	}
	if _, err := loadConfig(t, "", "--lock.ttl", "5s"); err != nil {
		t.Errorf("a good flag over a bad variable: %v", err)
	}
	t.Setenv("LOCKSTEP_LOCK_TTL", "")
	t.Setenv("LOCKSTEP_REDIS_PASSWORD", "x")
	if _, err := loadConfig(t, ""); err == nil || !strings.HasPrefix(err.Error(), "environment: redis.addrs: empty is not allowed") {
		t.Errorf("a variable that does not go with the rest: %v", err)
	}
	t.Setenv("LOCKSTEP_REDIS_PASSWORD", "")
	t.Setenv("LOCKSTEP_TEST_REDIS", "/usr/bin/valkey-server")
	t.Setenv("LOCKSTEP_LOCK_VERSON", "v1")
	want := "there is no variable LOCKSTEP_LOCK_VERSON; there are LOCKSTEP_SERVER_ADDR, "
	if _, err := loadConfig(t, ""); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("unknown variable: %v", err)
	}
}

// Variables that Kubernetes sets for services whose names begin with lockstep are ignored; a mistyped variable that resembles one is
// refused.
func TestKubernetesServiceVariablesAreIgnored(t *testing.T) {
	for name, value := range map[string]string{
		"LOCKSTEP_SERVICE_HOST": "10.0.0.1", "LOCKSTEP_SERVICE_PORT": "8080", "LOCKSTEP_SERVICE_PORT_HTTP": "8080",
		"LOCKSTEP_PORT": "tcp://10.0.0.1:8080", "LOCKSTEP_PORT_8080_TCP": "tcp://10.0.0.1:8080", "LOCKSTEP_PORT_8080_TCP_PROTO": "tcp",
		"LOCKSTEP_REDIS_SERVICE_HOST": "10.0.0.2", "LOCKSTEP_REDIS_SERVICE_PORT": "6379", "LOCKSTEP_REDIS_PORT": "tcp://10.0.0.2:6379",
		"LOCKSTEP_REDIS_PORT_6379_TCP": "tcp://10.0.0.2:6379", "LOCKSTEP_REDIS_PORT_6379_TCP_ADDR": "10.0.0.2",
		"LOCKSTEP_REDIS_PORT_6379_TCP_PORT": "6379",
	} {
		t.Setenv(name, value)
	}
	if _, err := loadConfig(t, ""); err != nil {
		t.Error(err)
	}
	for name, value := range map[string]string{"LOCKSTEP_PORT": "8080", "LOCKSTEP_REDIS_PORT": "6379", "LOCKSTEP_SERVICE": "x"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			if _, err := loadConfig(t, ""); err == nil || !strings.Contains(err.Error(), "there is no variable "+name+";") {
				t.Errorf("%v; want that there is no such variable", err)
			}
		})
	}
}

func TestErrorNamesEveryProblem(t *testing.T) {
	_, err := loadConfig(t, "lock.ttl: ten\nsale.nested: x\nnonsense: 1\n")
	for _, says := range []string{"lock.ttl", "sale.nested", "nonsense"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not name %s", err, says)
		}
	}
}

// Each value is either accepted and within bounds, or refused with an error that names its key.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{"10s", "-1s", "ten", "", "1e9", "127.0.0.1:1", "v0", "true", "☃", "9999999999999999999999", " 5 ", "a,b"} {
		f.Add(uint8(0), seed)
		f.Add(uint8(7), seed)
	}
	names := []string{
		"server.addr", "redis.addrs", "redis.embedded_addr", "redis.cluster", "lock.version", "lock.ttl", "lock.retry_interval",
		"lock.wait_timeout", "sale.think_time", "sale.nested", "inventory.initial", "log.level",
	}
	f.Fuzz(func(t *testing.T, which uint8, value string) {
		name := names[int(which)%len(names)]
		got, err := loadConfig(t, "", "--"+name+"="+value)
		if err != nil {
			if !strings.Contains(err.Error(), name) && !strings.Contains(err.Error(), "redis.addrs") {
				t.Errorf("%s=%q: %v does not name the key", name, value, err)
			}
			return
		}
		s := got.Settings
		if s.TTL < 10*time.Millisecond || s.RetryInterval < time.Millisecond || s.WaitTimeout <= 0 || s.Think < 0 ||
			s.Nested < 0 || s.Initial < 0 || s.Initial > 1_000_000_000 {
			t.Errorf("%s=%q was accepted: %+v", name, value, got)
		}
	})
}
