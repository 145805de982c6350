package lab

import (
	"time"

	"lockstep/internal/language"
	"lockstep/internal/watch/witness"
)

// clockSkew puts the clock of a replica ahead.
func clockSkew() Lab {
	return Lab{
		Name:  "clock-skew",
		Claim: language.Both("a wrong clock does not give the lock to two", "时钟不准也不会让两单同时持有锁"),
		Shows: "getset", Cured: "v2",
		Cure:    language.Both("let Redis count the time: SET … EX", "让 Redis 计时：SET … EX"),
		Explore: "--skew 15s --anomaly two-holders",
		Shop: Settings{
			Replicas: 2, TTL: time.Minute, Wait: 10 * time.Second, Think: each(time.Second, "r1", "r2"), Ahead: each(time.Hour, "r2"),
		},
		Scenario: whileHeld("r2"),
		Fault:    language.Both("the second sale, an hour ahead, asks while the first is at work", "第一单执行期间，时钟快一小时的第二单来加锁"),
		Hit:      askedInTime("r2#1"),
		Proof:    sold("r2#1"),
		Signs:    []witness.FindingKind{witness.Together},
		Expected: []Expectation{
			broken("getset", "by the clock of r2 the lock has expired long ago", "按 r2 的时钟，锁早已过期"),
			holds("v1.. redlock late-commit setnx-expire lua-setnx", "only durations are measured by the own clock", "自己的时钟只用来测量时长"),
			keepsNobodyOut(),
		},
	}
}
