package lab

import (
	"slices"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// redisGone ends Redis while a sale holds the lock, and starts it again with what it had: a real one from its append-only file. It is
// gone until every buyer has an answer, which is soon: ten seconds show the same.
func redisGone() Lab {
	const wait = 5 * time.Second
	return Lab{
		Name: "redis-gone",
		Claim: language.Both("while Redis is gone, each buyer is soon told the truth; when it is back, sales go on",
			"Redis 不在时，每个买家很快得到如实的答复；它回来后，下单继续"),
		Shows: "v1", Cured: "v2",
		Cure:    language.Both("an expiry: a lock that its holder could not give back goes by itself", "设置过期时间：持有者没能释放的锁会自行过期"),
		Explore: "--faults lost-request=1 --anomaly left-behind",
		Shop:    Settings{TTL: 2 * time.Second, Wait: wait, Durable: true},
		Scenario: func(s *Stage) {
			first, trap := s.BuyCaught("r1", redisproxy.HoldReply, redisproxy.IsWrite) // r1#1 is sold, and does not know it
			second := s.BuyUntil("r2", "ask for the lock", asks)
			s.RedisEnds()
			trap.Drop()
			s.Answered(first, second, s.Buy("r2"))
			s.RedisBegins()
			s.Served("r2")
			s.Until("the first sale to end", ends("r1#1"))
			s.LookUp("r2")
		},
		Fault: language.Both("Redis is gone when r1 is to hear that it has written, and comes back", "r1 等待写入的响应时 Redis 不在了，之后又回来"),
		Hit:   all(happened(witness.KindRedisEnds), happened(witness.KindRedisBegins), failed("r1#1")),
		Proof: soldAfter(witness.KindRedisBegins, "r2"),
		Signs: []witness.FindingKind{witness.LeftBehind, witness.WaitedInVain, witness.SoldUntold, witness.NeverBooked},
		Blames: func(f witness.Finding) bool { // whoever was told at once that Redis is gone did not wait in vain for the lock
			return f.Kind != witness.WaitedInVain || time.Duration(f.For) >= wait
		},
		Expected: []Expectation{
			broken("v1", "the holder could not give its lock back, and it never expires", "持有者没能释放锁，而锁永不过期"),
			holds("v2.. setnx-expire lua-setnx", "the lock that nobody could give back expires; then sales go on", "没能释放的锁会过期，之后下单继续"),
			holds("getset", "the other finds the expiry in the past, and takes the lock over", "另一单发现锁已过期，于是接管"),
			holds("late-commit", "it had given its lock back before it wrote", "它在写入之前已经释放了锁"),
			holds("redlock", "its lock is on other nodes, which are there: it is given back", "它的锁在别的节点上，那些节点都在：锁会释放"),
			holds(noLock, "there is no lock that anybody would wait for; the buyer in doubt is told so", "没有让人等待的锁；结果不明的买家会得到如实的答复"),
		},
	}
}

// soldAfter reports whether the last sale of a replica that ended after something had happened was made.
func soldAfter(kind witness.Kind, replica string) Condition {
	return since(is("", kind), func(events []witness.Event) bool {
		for _, e := range slices.Backward(events) {
			if is(replica, witness.KindEnds)(e) {
				return e.Error == ""
			}
		}
		return false
	})
}
