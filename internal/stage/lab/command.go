package lab

import (
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// stock is more than any lab sells.
const stock = 200

// commands gives the commands that start the replicas: servers of this very program, with no other settings than the lab's.
func (s *Stage) commands(program, lock string, shop Settings) func(name string) *exec.Cmd {
	return func(name string) *exec.Cmd {
		addr, nodes := s.addrs(name)
		command := exec.Command(program, "serve", "--until-stdin-ends", "--log.level=error",
			"--server.addr="+anyPort, "--server.replica="+name, "--server.clock_offset="+shop.Ahead[name].String(),
			"--redis.addrs="+addr, "--redis.redlock_addrs="+strings.Join(nodes, ","),
			"--lock.version="+lock, "--lock.ttl="+shop.TTL.String(), "--lock.wait_timeout="+shop.Wait.String(),
			"--sale.think_time="+max(shop.Think[name], 0).String(), fmt.Sprintf("--sale.nested=%d", shop.Nested),
			fmt.Sprintf("--inventory.initial=%d", stock))
		command.Dir, command.Env, command.Stderr = s.dir, environment(), s.said
		return command
	}
}

// each gives the same setting to some replicas.
func each(d time.Duration, replicas ...string) map[string]time.Duration {
	all := map[string]time.Duration{}
	for _, name := range replicas {
		all[name] = d
	}
	return all
}
