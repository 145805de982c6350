package lab

import (
	"strings"
	"time"

	"fmt"
	"os/exec"

	"lockstep/internal/stage/replica"
)

// stock is more than any lab sells.
const stock = 200

// Settings are those of the shop that a lab needs.
type Settings struct {
	Replicas int
	TTL      time.Duration            // lock.ttl
	Wait     time.Duration            // lock.wait_timeout
	Nested   int                      // sale.nested
	Think    map[string]time.Duration // sale.think_time, by replica
	Ahead    map[string]time.Duration // server.clock_offset, by replica
	Proxied  []string                 // the replicas that reach Redis by a proxy

	NodesProxied bool // these reach the nodes of redlock by proxies, too
	Replicated   bool // Redis has a replica, which can take its place
	Durable      bool // a real Redis writes down what it does before it answers
	Job          *Job // the replicas run it, and sell nothing
}

// each gives the same setting to some replicas.
func each(d time.Duration, replicas ...string) map[string]time.Duration {
	all := map[string]time.Duration{}
	for _, name := range replicas {
		all[name] = d
	}
	return all
}

// commands gives the commands that start the replicas of the shop, with no other settings than the lab's.
func (s *Stage) commands(program, lock string, shop Settings) func(name string) *exec.Cmd {
	return func(name string) *exec.Cmd {
		var nodes []string
		for i := range s.redis.nodes {
			nodes = append(nodes, s.addr(name, i+1))
		}
		arguments := []string{"--redis.addrs=" + s.addr(name, 0), "--redis.redlock_addrs=" + strings.Join(nodes, ",")}
		if shop.Job != nil {
			arguments = append(arguments, "--lock="+lock, "--every="+shop.Job.Every.String(), "--work="+shop.Job.Work.String())
			return replica.Command(program, "job", name, s.dir, &s.said, arguments...)
		}
		arguments = append(arguments, "--server.addr="+replica.AnyPort, "--server.clock_offset="+shop.Ahead[name].String(),
			"--lock.version="+lock, "--lock.ttl="+shop.TTL.String(), "--lock.wait_timeout="+shop.Wait.String(),
			"--sale.think_time="+shop.Think[name].String(), fmt.Sprintf("--sale.nested=%d", shop.Nested),
			fmt.Sprintf("--inventory.initial=%d", stock))
		return replica.Command(program, "serve", name, s.dir, &s.said, arguments...)
	}
}
