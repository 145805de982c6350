package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"lockstep/internal/config"
)

// An error names the 1-based line of the mistake; in malformed YAML, the line that the parser reports.
func TestErrorNamesLine(t *testing.T) {
	const broken = ": configuration file: not valid YAML: yaml: "
	rest := "\nsale:\n  nested: \"1\"\nlog:\n  level: info\n"
	for _, c := range []struct{ name, file, says string }{
		{"a tab", "lock:\n\tversion: v1" + rest, broken + "line 2: found character that cannot start any token"},
		{"a tab, lines ending as on Windows", "lock:\r\n\tversion: v1\r\n", broken},
		{"a tab in the first line", "\tlock: 1" + rest, broken},
		{"an open bracket", "redis:\n  addrs: [a:1, b:2\n  tls: true" + rest, broken},
		{"an open brace", "lock: {ttl: 5s\nsale: {}" + rest, broken},
		{"an open bracket at the end", "lock: [", broken},
		{"an open quote", "lock:\n  version: \"v0\n  ttl: 10s" + rest, broken},
		{"a line too far left", "lock:\n    version: v0\n    ttl: 10s\n  wait_timeout: 3s" + rest, broken},
		{"no colon", "lock:\n  version: v0\n  ttl 10s" + rest, broken},
		{"two colons", "lock:\n  version: v0: v1" + rest, broken},
		{"a control character", "lock:\n  version: v0\n  ttl: \x01" + rest, broken},
		{"no UTF-8", "lock:\n  version: v\xff" + rest, broken},
		{"a star", "lock:\n  version: v0\nserver:\n  replica: *star" + rest,
			broken + "unknown anchor (write a text that begins with * in quotes)"},
		{"two documents", "lock:\n  version: v0\n---\nsale:\n  nested: 1\n", ":3: configuration file: a second document is not allowed"},
		{"a broken second document", "lock:\n  version: v0\n---\nsale: [\n", broken},
		{"a list", "- lock\n- sale\n", ":1: one value is not allowed: it is a group of keys; there are server.addr, "},
		{"a bad value", "# the lock\nlock:\n  version: v0\n  ttl: ten\n", `:4: lock.ttl: "ten" is not allowed`},
		{"an unknown key", "lock:\n  version: v0\n  verson: v1\n", ":3: there is no key lock.verson; there are server.addr, "},
		{"an unknown group", "lock:\n  version: v0\nlok:\n  ttl: 1s\n", ":3: there is no key lok; there are server.addr, "},
		{"a value for a group", "sale:\n  nested: 1\nlock: v0\n", ":3: lock: one value is not allowed"},
		{"a key twice", "lock:\n  ttl: 1s\n  version: v0\n  ttl: 2s\n", ":4: lock.ttl is not allowed twice: it is in line 2 already"},
		{"a key twice, once in capitals", "lock:\n  ttl: 1s\n  TTL: 2s\n", ":3: lock.ttl is not allowed twice"},
		{"a key twice, once with a dot", "lock:\n  ttl: 1s\nlock.ttl: 2s\n", ":3: lock.ttl is not allowed twice"},
		{"a group twice", "lock:\n  ttl: 1s\nlock:\n  version: v0\n", ":3: lock is not allowed twice: it is in line 1 already"},
		{"a tag that does not fit", "lock:\n  version: v0\nsale:\n  nested: !!int one\n", ":4: sale.nested: this value is not allowed"},
		{"a value in itself", "server:\n  replica: &a [*a]\n", ":2: server.replica: this value is not allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := loadConfig(t, c.file); err == nil || !strings.Contains(err.Error(), "config.yaml"+c.says) {
				t.Errorf("got %v; want config.yaml%s", err, c.says)
			}
		})
	}
}

func TestUnsuitableFileIsRefused(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, "long.yaml")
	if err := os.WriteFile(long, []byte(strings.Repeat("#", 1<<20)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct{ file, want string }{
		"directory": {file: dir, want: dir + " is a directory: want a regular file"},
		"device":    {file: os.DevNull, want: os.DevNull + " is a pipe, a device or a socket: want a regular file"},
		"long file": {file: long, want: long + " is longer than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := loadConfig(t, "", "--config", test.file)
			if err == nil || !strings.Contains(err.Error(), "configuration file: "+test.want) {
				t.Errorf("got %v; want %q", err, test.want)
			}
		})
	}
	if _, err := loadConfig(t, strings.Repeat("#", 1<<20)); err != nil {
		t.Errorf("a file just as long as it may be: %v", err)
	}
	t.Chdir(dir)
	if err := os.Mkdir(config.DefaultFile, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := loadConfig(t, ""); err == nil || !strings.Contains(err.Error(), "config.yaml is a directory") {
		t.Errorf("a directory of that name here: %v", err)
	}
}

// LoadOnly checks only the named keys. It ignores a default file that is not a configuration file of lockstep, unless --config names it.
func TestLoadOnlyIgnoresOtherSettings(t *testing.T) {
	t.Setenv("LOCKSTEP_LOCK_VERSION", "v99")
	t.Setenv("LOCKSTEP_NONSENSE", "1")
	only := func(t *testing.T, file string, named bool, names ...string) (config.Config, error) {
		t.Chdir(t.TempDir())
		if err := os.WriteFile(config.DefaultFile, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		set := pflag.NewFlagSet("test", pflag.ContinueOnError)
		config.AddFlags(set, versions)
		if named {
			if err := set.Set("config", config.DefaultFile); err != nil {
				t.Fatal(err)
			}
		}
		return config.LoadOnly(set, versions, names...)
	}
	for _, c := range []struct {
		name  string
		file  string
		named bool
		names []string
		addr  string
		says  string
	}{
		{"other keys", "app: 1\nserver: {addr: 'h:1', port: 2}\nlock: {ttl: x}\n", false, []string{"server.addr"}, "h:1", ""},
		{"other keys, file named", "app: 1\nserver: {addr: 'h:1', port: 2}\nlock: {ttl: x}\n", true, []string{"server.addr"}, "h:1", ""},
		{"bad value", "server: {addr: nowhere}\n", false, []string{"server.addr"}, "", `config.yaml:1: server.addr: "nowhere" is not allowed`},
		{"bad value of another group", "server: {addr: nowhere}\n", false, []string{"redis."}, "", ""},
		{"two documents", "a: 1\n---\nb: 1\n", false, []string{"server.addr"}, "127.0.0.1:8080", ""},
		{"two documents, file named", "a: 1\n---\nb: 1\n", true, []string{"server.addr"}, "", "a second document is not allowed"},
		{
			"bad value in a group", "redis: {addrs: 'h:1', cluster: maybe}\n", false, []string{"redis."},
			"", "redis.cluster: this value is not allowed",
		},
		{"TLS without an address", "redis: {tls: true}\n", false, []string{"redis."}, "", "redis.addrs: empty is not allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := only(t, c.file, c.named, c.names...)
			if cfg.Server.Addr != c.addr && c.says == "" || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %q, %v; want %q, %q", cfg.Server.Addr, err, c.addr, c.says)
			}
		})
	}
}
