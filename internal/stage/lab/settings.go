package lab

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"lockstep/internal/stage/redisproxy"
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

// serve is the command of a replica that sells.
const serve = "serve"

// startCommands gives the commands that start the replicas of the shop, with no other settings than the lab's.
func startCommands(proxies map[string][]*redisproxy.Proxy, lock string, shop Settings) func(name string) []string {
	return func(name string) []string {
		var addrs []string
		for _, proxy := range proxies[name] {
			addrs = append(addrs, proxy.Addr())
		}
		redis := []string{"--redis.addrs=" + addrs[0], "--redis.redlock_addrs=" + strings.Join(addrs[1:], ",")}
		if shop.Job != nil {
			return append([]string{"job", "--lock=" + lock, "--every=" + shop.Job.Every.String(), "--work=" + shop.Job.Work.String()}, redis...)
		}
		return append([]string{serve, "--server.clock_offset=" + shop.Ahead[name].String(),
			"--lock.version=" + lock, "--lock.ttl=" + cmp.Or(shop.TTL, time.Minute).String(),
			"--lock.wait_timeout=" + cmp.Or(shop.Wait, 10*time.Second).String(),
			"--sale.think_time=" + shop.Think[name].String(), fmt.Sprintf("--sale.nested=%d", shop.Nested),
			fmt.Sprintf("--inventory.initial=%d", stock)}, redis...)
	}
}
