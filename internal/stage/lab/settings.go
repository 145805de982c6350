package lab

import (
	"cmp"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"lockstep/internal/stage/replica"
)

// stock is more than any lab sells.
const stock = 200

// Settings are those of the shop that a lab needs.
type Settings struct {
	Replicas int                      // 0: two
	TTL      time.Duration            // lock.ttl; 0: a minute, which no lab lasts
	Wait     time.Duration            // lock.wait_timeout; 0: ten seconds
	Nested   int                      // sale.nested
	Think    map[string]time.Duration // sale.think_time, by replica
	Ahead    map[string]time.Duration // server.clock_offset, by replica

	Replicated bool // Redis has a replica, which can take its place
	Durable    bool // a real Redis writes down what it does before it answers
	Job        *Job // the replicas run it, and sell nothing
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
		var addrs []string
		for _, proxy := range s.proxies[name] {
			addrs = append(addrs, proxy.Addr())
		}
		arguments := []string{"--redis.addrs=" + addrs[0], "--redis.redlock_addrs=" + strings.Join(addrs[1:], ",")}
		if shop.Job != nil {
			arguments = append(arguments, "--lock="+lock, "--every="+shop.Job.Every.String(), "--work="+shop.Job.Work.String())
			return replica.Command(program, "job", name, s.dir, &s.said, arguments...)
		}
		arguments = append(arguments, "--server.addr="+replica.AnyPort, "--server.clock_offset="+shop.Ahead[name].String(),
			"--lock.version="+lock, "--lock.ttl="+cmp.Or(shop.TTL, time.Minute).String(),
			"--lock.wait_timeout="+cmp.Or(shop.Wait, 10*time.Second).String(),
			"--sale.think_time="+shop.Think[name].String(), fmt.Sprintf("--sale.nested=%d", shop.Nested),
			fmt.Sprintf("--inventory.initial=%d", stock))
		return replica.Command(program, "serve", name, s.dir, &s.said, arguments...)
	}
}
