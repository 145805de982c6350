package cluster

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/config"
)

// Command returns a function that returns the command of the replica with a given name. The command runs this program with arguments, whose
// first is the subcommand, and with the flags given. It uses this process's Redis: the configured one, or the embedded one at redis with
// the masters at nodes. Secrets are passed on in the environment.
func Command(cfg config.Config, redis string, nodes, given, arguments []string, stdout, stderr io.Writer) (
	func(name string) *exec.Cmd, error,
) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := slices.Concat(arguments[:1], given)
	// The Redis is given explicitly, so that a replica restarted after a change of config.yaml still uses the same one.
	addrs := cfg.Redis.Addrs
	if len(addrs) == 0 {
		addrs = []string{redis}
		args = append(args, "--redis.embedded_addr="+redis) // tells the replica that its Redis is an embedded one
	}
	args = append(args,
		"--redis.addrs="+strings.Join(addrs, ","),
		"--redis.redlock_addrs="+strings.Join(nodes, ","),
		"--redis.master_name="+cfg.Redis.MasterName,
		"--redis.cluster="+strconv.FormatBool(cfg.Redis.Cluster),
		"--redis.tls="+strconv.FormatBool(cfg.Redis.TLS),
		"--redis.tls_ca="+cfg.Redis.TLSCA,
		"--redis.tls_cert="+cfg.Redis.TLSCert,
		"--redis.tls_key="+cfg.Redis.TLSKey)
	args = append(args, "--admin.token_file=") // The token itself is passed on, in the environment.
	args = append(args, arguments[1:]...)
	var secrets []string // environment variables; other users of the machine can read arguments
	for _, secret := range []struct{ variable, flag, value string }{
		{config.TokenVariable, "--admin.token=", cfg.Admin.Token},
		{config.UsernameVariable, "--redis.username=", cfg.Redis.Username},
		{config.PasswordVariable, "--redis.password=", cfg.Redis.Password},
	} {
		secrets = append(secrets, secret.variable+"="+secret.value)
		if secret.value == "" {
			args = append(args, secret.flag) // An explicit empty value overrides config.yaml, which may have changed.
		}
	}
	return func(name string) *exec.Cmd {
		own := slices.Concat(args, []string{"--server.replica=" + name}) // a copy: two replicas may be restarted at the same time
		command := exec.Command(program, own...)                         // no context: the end of its standard input ends it
		command.Stdout, command.Stderr = stdout, stderr
		command.Env = append(os.Environ(), secrets...)
		return command
	}, nil
}
