package config_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// A number that YAML and Go may read differently is refused.
func TestAmbiguousNumbersAreRefused(t *testing.T) {
	for _, number := range []string{"0200", "-0", "+200", "0o310", "0xc8", "0b11", "1_000", "1e2", "2e2", "200.0", "1:30", "00", "２００"} {
		t.Run(number, func(t *testing.T) {
			want := fmt.Sprintf("inventory.initial: %q is not allowed: want a whole number from 0 to 1000000000, "+
				"in decimal digits only: 200, not 0200, ", number)
			if _, err := loadConfig(t, "inventory:\n  initial: "+number); err == nil || !strings.Contains(err.Error(), "config.yaml:2: "+want) {
				t.Errorf("file: got %v; want %s", err, want)
			}
			t.Setenv("LOCKSTEP_INVENTORY_INITIAL", number)
			if _, err := loadConfig(t, ""); err == nil || !strings.Contains(err.Error(), "environment: "+want) {
				t.Errorf("environment: got %v; want %s", err, want)
			}
			t.Setenv("LOCKSTEP_INVENTORY_INITIAL", "")
		})
	}
	for _, number := range []string{"200", `"200"`, "!!int 200", "&n 200"} {
		t.Run(number, func(t *testing.T) {
			if got, err := loadConfig(t, "inventory.initial: "+number); err != nil || got.Settings.Initial != 200 {
				t.Errorf("got %d, %v; want 200", got.Settings.Initial, err)
			}
		})
	}
}

// A text is taken literally, even if YAML would read it as a number, a boolean or a date.
func TestTextIsTakenLiterally(t *testing.T) {
	for _, text := range []string{"0123", "1_000", "1e3", "0x10", "true", "2001-01-01", "1.0"} {
		t.Run(text, func(t *testing.T) {
			if got, err := loadConfig(t, "admin.token: "+text); err != nil || got.Admin.Token != text {
				t.Errorf("got %q, %v; want %q", got.Admin.Token, err, text)
			}
		})
	}
	if got, err := loadConfig(t, "server.hosts: [010, 'a']"); err != nil || !slices.Equal(got.Server.Hosts, []string{"010", "a"}) {
		t.Errorf("%q, %v", got.Server.Hosts, err)
	}
}

// A text that no header or name can contain is refused, whatever the source, and is not shown.
func TestControlCharactersAreRefused(t *testing.T) {
	const mark = "workshop"
	for key, bad := range map[string][]string{
		"admin.token": {
			`"` + mark + `"`, "'" + mark + "'",
			mark + "\n", mark + "\r\n", "\n" + mark, mark + "\n" + mark, mark + " ", " " + mark, "\t" + mark, mark + "\x00",
			mark + "\x7f", mark + "\u0085", mark + "\u00a0", " ",
		},
		"redis.password":    {mark + "\n"},
		"redis.username":    {mark + "\n"},
		"redis.master_name": {mark + "\n"},
		"redis.tls_ca":      {mark + "\n"},
		"server.replica":    {mark + "\n"},
	} {
		for _, value := range bad {
			t.Run(fmt.Sprintf("%s, %q", key, value), func(t *testing.T) {
				_, flag := loadConfig(t, "", "--"+key+"="+value)
				_, file := loadConfig(t, fmt.Sprintf("%s: %q", key, value))
				for source, err := range map[string]error{"flag": flag, "config.yaml:1": file} {
					if err == nil || !strings.Contains(err.Error(), source+": "+key+": ") || !strings.Contains(err.Error(), "want a text without ") {
						t.Errorf("%s: got %v; want the value refused", source, err)
					}
					if key != "server.replica" && err != nil && strings.Contains(err.Error(), mark) {
						t.Errorf("%s: got %v; want the value hidden", source, err)
					}
				}
			})
		}
	}
	t.Setenv("LOCKSTEP_ADMIN_TOKEN", mark+"\n")
	want := "environment: admin.token: this value is not allowed: " +
		"want a text without a line end or any other control character, also at its end"
	if _, err := loadConfig(t, "admin.token: |\n  other\n"); err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
	t.Setenv("LOCKSTEP_ADMIN_TOKEN", "a token of words, 口令")
	if got, err := loadConfig(t, ""); err != nil || got.Admin.Token != "a token of words, 口令" {
		t.Errorf("%q, %v", got.Admin.Token, err)
	}
}

// A variable whose name is not in capitals would be ignored silently, so it is refused.
func TestVariableInLowerCaseIsRefused(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there it is the same variable")
	}
	for name, says := range map[string]string{
		"lockstep_lock_version": "there is no variable lockstep_lock_version; its name is in capitals: LOCKSTEP_LOCK_VERSION",
		"Lockstep_Lock_Version": "there is no variable Lockstep_Lock_Version; its name is in capitals: LOCKSTEP_LOCK_VERSION",
		"LOCKSTEP_LOCK_version": "there is no variable LOCKSTEP_LOCK_version; its name is in capitals: LOCKSTEP_LOCK_VERSION",
		"lockstep_lock_verson":  "there is no variable lockstep_lock_verson; there are LOCKSTEP_SERVER_ADDR, ",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, "v1")
			if _, err := loadConfig(t, ""); err == nil || !strings.HasPrefix(err.Error(), "environment: "+says) {
				t.Errorf("%v; want %s", err, says)
			}
		})
	}
}
