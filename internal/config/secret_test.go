package config_test

import (
	"fmt"
	"strings"
	"testing"
)

const hidden = "Xs3cretX"

// revealsSecret loads a configuration, and returns its error, or if there is none the addresses that logs show, and whether that text
// contains the secret.
func revealsSecret(t *testing.T, file string, flags ...string) (string, bool) {
	t.Helper()
	cfg, err := loadConfig(t, file, flags...)
	output := fmt.Sprint(err)
	if err == nil {
		output = fmt.Sprint(cfg.Redis.Addrs, cfg.Redis.RedlockAddrs, cfg.Redis.EmbeddedAddr, cfg.Server.Addr)
	}
	return output, strings.Contains(output, hidden)
}

// However a Redis URL is mistyped, neither an error nor a log shows its password, whatever the source.
func TestMistypedURLRevealsNoSecret(t *testing.T) {
	var addrs []string
	for _, scheme := range []string{"", "redis:", "redis:/", "redis://", "redis:///", "rediss://", "redis//", "//", "tcp://", " redis:// ",
		"unix:", "unix:/", "unix://", "unix:///", "unix:////"} {
		for _, password := range []string{
			hidden, "p " + hidden, hidden + " p", "p " + hidden + " p", "p," + hidden + ",p", "12/" + hidden, "12#" + hidden,
			"12?" + hidden, "p@" + hidden, hidden + "@p", hidden + "%", "%40" + hidden, "12:" + hidden, "[" + hidden, `p"` + hidden,
			"p'" + hidden, "\t" + hidden, `12\` + hidden, "12%zz" + hidden, "12&" + hidden, "пароль" + hidden,
		} {
			for _, host := range []string{"@h:1", "@h", "@", " @ h:1", "@h:x", "@h:1/0", "@h:1?db=1", "@[::1]:1", "@h:1,h:2", "/h:1"} {
				forms := []string{"%su:%s%s", "h:1,%su:%s%s", "%s:%s%s", "%s:%s%s,h:3", "%su:%s%s", "h:1 %s:%s%s", "%su:%s%s,h:3"}
				addrs = append(addrs, fmt.Sprintf(forms[len(addrs)%len(forms)], scheme, password, host))
			}
		}
	}
	addrs = append(addrs,
		hidden+"@h:1", "h:1,"+hidden+"@h:2", "redis://"+hidden+"@h", "h:1?password="+hidden, "h:1,password="+hidden, "redis://h:1#"+hidden,
		"redis://:"+hidden, "u:"+hidden, ":"+hidden, "redis-cli -h h -a "+hidden+" --tls", "password="+hidden+" host=h", "${"+hidden+"}")
	keys := []string{"redis.addrs", "redis.redlock_addrs", "redis.embedded_addr"}
	for i, addr := range addrs {
		key := keys[0]
		if i%5 == 0 { // every URL is tried with the right key, some also with similar keys
			key = keys[1+i%2]
		}
		if output, revealed := revealsSecret(t, "", "--"+key+"="+addr); revealed {
			t.Errorf("flag %s %q: %s", key, addr, output)
		}
	}
	for i := 0; i < len(addrs); i += 23 {
		for _, file := range []string{
			"redis:\n  addrs: " + addrs[i], "redis.addrs: [" + addrs[i] + "]", fmt.Sprintf("redis:\n  addrs: %q\n", addrs[i]),
			"redis: " + addrs[i], addrs[i],
		} {
			if output, revealed := revealsSecret(t, file); revealed {
				t.Errorf("file %q: %s", file, output)
			}
		}
		t.Setenv("LOCKSTEP_REDIS_ADDRS", addrs[i])
		if output, revealed := revealsSecret(t, ""); revealed {
			t.Errorf("environment %q: %s", addrs[i], output)
		}
		t.Setenv("LOCKSTEP_REDIS_ADDRS", "")
	}
}

// However a file is mistyped around a secret, the error does not show it.
func TestMistypedFileRevealsNoSecret(t *testing.T) {
	for _, key := range []string{
		"redis:\n  password", "redis:\n  username", "admin:\n  token", "redis:\n  addrs", "redis.password", "redis:\n  passwrod",
		"redis:\n  - password",
	} {
		t.Run(key, func(t *testing.T) {
			for _, value := range []string{
				": " + hidden + ": x", ": *" + hidden, ": &" + hidden + " [", ": !" + hidden + " [", ": @" + hidden, ": `" + hidden, ": %" + hidden,
				": |" + hidden, ": >" + hidden, `: "` + hidden, `: "` + hidden + `\q"`, ": '" + hidden, ": {" + hidden + "}", ": {" + hidden + ": 1}",
				": [" + hidden + "]", ": [" + hidden, ": {" + hidden, ":" + hidden, ":" + hidden + ": 1", "=" + hidden, "=" + hidden + ": 1",
				" " + hidden, " " + hidden + ": 1", "\t" + hidden, ": \t" + hidden + "\n\tx: y", ": !!int " + hidden, ": !!float " + hidden,
				": !!binary " + hidden + "*", ": !!map " + hidden, ": !!bool " + hidden, ":\n    " + hidden + ": 1", ":\n    a: " + hidden,
				":\n    - " + hidden, ":\n  " + hidden, ": " + hidden + "\n   x: 1", ": " + hidden + "\n  " + `"`, ": {? " + hidden + "}",
				": &a [*a, " + hidden + "]", ": <<: " + hidden, ":\n    <<: " + hidden, ": " + hidden + "\x01", ": " + hidden + "\xff",
			} {
				for _, after := range []string{"", "\n  cluster: maybe\nlock:\n  version: v0\n", "\n---\n" + hidden + "\n"} {
					if output, revealed := revealsSecret(t, key+value+after); revealed {
						t.Errorf("%q: %s", key+value+after, output)
					}
				}
			}
		})
	}
}

// A secret that is given to another key is not shown, whatever the source.
func TestSecretUnderOtherKeyIsHidden(t *testing.T) {
	for _, key := range []string{
		"admin.open", "redis.tls", "redis.cluster", "redis.addrs", "redis.embedded_addr", "redis.redlock_addrs", "redis.tls_ca", "redis.tls_key",
		"redis.master_name", "redis", "admin",
	} {
		t.Run(key, func(t *testing.T) {
			group, name, isKey := strings.Cut(key, ".")
			files := []string{key + ": " + hidden, key + ": [" + hidden + "]", "admin: {" + hidden + "}", "redis: {" + hidden + ", tls: true}"}
			if isKey {
				files = append(files, fmt.Sprintf("%s: {%s: %s}", group, name, hidden),
					fmt.Sprintf("%s:\n  %s: %[3]s\n  %[2]s: %[3]s", group, name, hidden))
				t.Setenv("LOCKSTEP_"+strings.ToUpper(group+"_"+name), hidden)
				if output, revealed := revealsSecret(t, ""); revealed {
					t.Errorf("environment %s: %s", key, output)
				}
				t.Setenv("LOCKSTEP_"+strings.ToUpper(group+"_"+name), "")
				if output, revealed := revealsSecret(t, "", "--"+key+"="+hidden); revealed {
					t.Errorf("flag %s: %s", key, output)
				}
			}
			for _, file := range files {
				if output, revealed := revealsSecret(t, file); revealed {
					t.Errorf("file %q: %s", file, output)
				}
			}
		})
	}
}

// FuzzSecret puts a secret, as a password in a URL, between any two texts.
func FuzzSecret(f *testing.F) {
	for _, seed := range []string{"", "redis://u:", "u:", ":", "redis:/", "h:1,redis://u:12#", "h:1", "h:1/0", "h:1, h:2", " "} {
		f.Add(uint8(0), seed, "h:1")
		f.Add(uint8(2), seed, "h:1")
		f.Add(uint8(3), "redis://u:", seed)
	}
	f.Fuzz(func(t *testing.T, which uint8, before, after string) {
		addr := before + hidden + "@" + after
		var output string
		var revealed bool
		switch which % 4 {
		case 0:
			output, revealed = revealsSecret(t, "", "--redis.addrs="+addr)
		case 1:
			output, revealed = revealsSecret(t, "", "--redis.redlock_addrs="+addr)
		case 2:
			output, revealed = revealsSecret(t, "", "--server.addr="+addr)
		default:
			output, revealed = revealsSecret(t, "redis:\n  addrs: "+addr+"\n")
		}
		if revealed {
			t.Errorf("%d %q: %s", which, addr, output)
		}
	})
}
