package cluster

import (
	"io"
	"slices"
	"testing"

	"lockstep/internal/config"
)

// A replica's command names the address of the embedded Redis of its parent process, if there is one.
func TestReplicaCommandNamesEmbeddedRedis(t *testing.T) {
	for name, test := range map[string]struct {
		addrs []string
		want  bool
	}{
		"embedded":   {nil, true},
		"a real one": {[]string{"127.0.0.1:6379"}, false},
	} {
		cfg := config.Config{}
		cfg.Redis.Addrs = test.addrs
		command, err := Command(cfg, "127.0.0.1:1234", nil, nil, []string{"serve"}, nil, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if args := command("replica1").Args; slices.Contains(args, "--redis.embedded_addr=127.0.0.1:1234") != test.want {
			t.Errorf("%s: %q", name, args)
		}
	}
}

// A replica gets the same certificate files as its parent.
func TestReplicaCommandPassesTLSFiles(t *testing.T) {
	cfg := config.Config{}
	cfg.Redis.TLSCert, cfg.Redis.TLSKey = "own.pem", "own.key"
	command, err := Command(cfg, "127.0.0.1:1234", nil, nil, []string{"serve"}, nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	args := command("replica1").Args
	if !slices.Contains(args, "--redis.tls_cert=own.pem") || !slices.Contains(args, "--redis.tls_key=own.key") {
		t.Errorf("%q", args)
	}
}
