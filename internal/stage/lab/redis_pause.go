package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

// redisPause lets Redis hang past the expiry of a lock, in the middle of a sale: by CLIENT PAUSE, or behind the proxies.
func redisPause() Lab {
	return Lab{
		Name:  "redis-pause",
		Claim: language.Both("a holder whose lock expires while Redis hangs is told before another gets it", "Redis 卡住期间锁过期，持有者在别人拿到锁之前得知"),
		Shows: "v5", Cured: "v6",
		Cure: language.Both("the holder counts the expiry by its own clock, from when it sent the last renewal: it needs no answer to know",
			"持有者用自己的时钟，从发出最近一次续期时算起：不需要响应也能知道"),
		Explore: "--faults expiry=1 --anomaly untold",
		Shop:    Settings{TTL: 1500 * time.Millisecond, Wait: 10 * time.Second, Think: map[string]time.Duration{"r1": time.Minute, "r2": time.Second}},
		Scenario: func(s *Stage) {
			s.Work("r1")
			s.RedisHangs(2500 * time.Millisecond) // less than a client waits for a reply
			s.Served("r2")
		},
		Fault:  language.Both("Redis hangs while r1's sale is at work, and then the other sells", "r1 的一单执行期间 Redis 卡住，之后另一单卖出"),
		Hit:    all(happened(witness.KindRedisHangs), sold("r2")),
		Proof:  firstIsTold(),
		Signs:  []witness.FindingKind{witness.Together},
		Blames: lastsFor(noticed),
		Expected: []Expectation{
			broken("v2..v5 setnx-expire lua-setnx getset late-commit", "the holder asks Redis nothing, and nobody tells it", "持有者不问 Redis，也没有人告诉它"),
			holds("v6..", "a renewal without an answer does not count: the holder stops in time", "没有响应的续期不算数：持有者及时停止"),
			neverExpires(),
			without("redlock", "its nodes do not hang with the Redis of the stock: see slow-node", "它的节点不与存库存的 Redis 一起卡住：见 slow-node"),
			keepsNobodyOut(),
		},
	}
}
