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

// Command returns a function that makes the command of a replica: this very program, with the flags that this process was given, its Redis
// (the one at redis and the masters at nodes, if none is configured), and arguments of its own, the name of the subcommand first.
func Command(cfg config.Config, redis string, nodes, given, arguments []string, stdout, stderr io.Writer) (
	func(name string) *exec.Cmd, error,
) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := slices.Concat(arguments[:1], given)
	// the Redis is this one, even if a replica is started again after the file has changed
	addrs := cfg.Redis.Addrs
	if len(addrs) == 0 {
		addrs = []string{redis}
		args = append(args, "--redis.embedded_addr="+redis) // so that they know what they talk to
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
	args = append(args, arguments[1:]...)
	var secrets []string // other users of the machine can read arguments, not the environment
	for _, secret := range []struct{ variable, flag, value string }{
		{config.TokenVariable, "--admin.token=", cfg.Admin.Token},
		{config.UsernameVariable, "--redis.username=", cfg.Redis.Username},
		{config.PasswordVariable, "--redis.password=", cfg.Redis.Password},
	} {
		secrets = append(secrets, secret.variable+"="+secret.value)
		if secret.value == "" {
			args = append(args, secret.flag) // nothing, whatever a changed file says
		}
	}
	return func(name string) *exec.Cmd {
		own := slices.Concat(args, []string{"--server.replica=" + name}) // not append: two may be started again at once
		command := exec.Command(program, own...)                         // it ends by its standard input
		command.Stdout, command.Stderr = stdout, stderr
		command.Env = append(os.Environ(), secrets...)
		return command
	}, nil
}
