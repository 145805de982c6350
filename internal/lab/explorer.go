package lab

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"lockstep/internal/anomaly"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/fault"
	"lockstep/internal/language"
	"lockstep/internal/strategy"
	"lockstep/internal/verdict"
)

const (
	actors      = 2          // number of sales in an exploration
	memoryLimit = 1500 << 20 // memory limit of an exploration in bytes, as in lockstep explore
	schedules   = 10_000     // largest number of schedules of one scenario: a few thousand are enough to show that a lock is broken
)

// scenario returns the scenario to explore; ok is false if all scenarios are to be searched.
func (l Lab) scenario(s strategy.Strategy) (_ explore.Scenario, ok bool) {
	if l.Faults != (explore.Faults{}) {
		return explore.Scenario{Actors: actors, Faults: l.Faults}, true
	}
	all := explore.ScenariosFor(s, actors)
	i := slices.IndexFunc(all, func(named explore.NamedScenario) bool { return named.Name == l.Expects(s.Name).Scenario })
	if i < 0 {
		return explore.Scenario{}, false
	}
	return all[i].Scenario, true
}

// search searches for the lab's anomaly with a lock, in one scenario or in all scenarios of explore --all. It returns the verdict and a
// sentence about the search.
func (l Lab) search(ctx context.Context, lock string, known sweepCache, in language.Language) (verdict.Verdict, string, error) {
	s, err := evolution.Find(lock)
	if err != nil {
		return "", "", err
	}
	scenario, single := l.scenario(s)
	if !single {
		return known.search(ctx, s, l.Anomaly, in)
	}
	scenario.Language = in
	goal := explore.Goal{Anomalies: []explore.Anomaly{l.Anomaly}}
	result, err := explore.Explore(ctx, s, scenario, goal, explore.Bounds{Schedules: schedules, Memory: memoryLimit})
	says := untestedText(result, in)
	switch {
	case len(result.Found) > 0:
		says = counterexampleText(result.Found[0], in)
	case result.Verdict() == verdict.Holds:
		says = noScheduleText(result.Schedules, in)
	}
	return result.Verdict(), says, err
}

// sweepCache caches the results of explore --all by lock, since one search covers all anomalies.
type sweepCache map[string][]explore.AnomalyCell

// search returns the result of explore --all for an anomaly with a strategy, and a sentence about it.
func (known sweepCache) search(
	ctx context.Context, s strategy.Strategy, a explore.Anomaly, in language.Language,
) (verdict.Verdict, string, error) {
	if known[s.Name] == nil {
		quiet := func(explore.NamedScenario, explore.Result, bool) {}
		rows, err := explore.Tabulate(ctx, []strategy.Strategy{s}, actors, explore.Bounds{Memory: memoryLimit}, quiet)
		if err != nil || ctx.Err() != nil {
			return "", "", cmp.Or(err, context.Cause(ctx))
		}
		known[s.Name] = rows[0].Cells
	}
	i := slices.IndexFunc(known[s.Name], func(c explore.AnomalyCell) bool { return c.Anomaly == a })
	if i < 0 {
		return "", "", fmt.Errorf("explore --all does not look for %s", a)
	}
	cell := known[s.Name][i]
	says := explore.UnknownText(in)
	switch {
	case len(cell.Found) > 0:
		says = counterexampleText(cell.Found[0], in)
	case cell.Verdict() == verdict.Holds:
		says = noScenarioText(in)
	}
	return cell.Verdict(), says, nil
}

// explorations returns the labs that run in the explorer, about anomalies that no lab shows on the running service.
func explorations() []Lab {
	both := language.Both
	return []Lab{{
		Name:    "redis-clock",
		Claim:   both("a clock of Redis that jumps ahead does not give the lock to a second holder", "Redis 的时钟向前跳，不会产生第二个持有者"),
		Anomaly: anomaly.TwoHolders, Faults: fault.Once(fault.RedisClock),
		Expected: []Expectation{
			expectBroken(StepsFrom(2).with("late-commit", "setnx-expire", "lua-setnx"), "the lock expires before its time", "锁提前过期"),
			expectBroken(LockNames{"redlock"},
				"the lock expires on one node before its time, and that node makes a second majority", "锁在一个节点上提前过期，该节点凑成第二个多数派"),
			expectBroken(LockNames{"set-expire", "setex"}, "everybody gets the lock at any time", "任何时候谁都能加锁成功"),
			notApplicable(LockNames{"v1"}, "its lock never expires", "它的锁永不过期"),
			notApplicable(LockNames{"getset"}, "its lock expires by the client's clock: see clock-skew", "它的锁按客户端的时钟过期：见 clock-skew"),
			notInRedis(),
		},
	}, {
		Name:    "idle",
		Claim:   both("a lock that no living sale holds does not have to expire before a waiter gets it", "没有存活的一单持有锁时，等待者不必等锁过期就能加锁成功"),
		Anomaly: anomaly.Idle,
		Expected: []Expectation{
			expectBroken(LockNames{"v2", "v5", "setnx-expire", "lua-setnx", "getset"},
				"the reply to its SET is lost, and it does not give back what it may have",
				"加锁的响应丢失，而它不释放自己可能持有的锁").withScenario("lost-reply"),
			expectBroken(StepsFrom(6).with("v3", "v4", "late-commit"),
				"a command that arrives after its sale has given up is nobody's", "这一单放弃后命令才到达：锁不属于任何人").withScenario("late"),
			expectHolds(LockNames{"redlock"}, "every sale tries once: nobody waits", "每一单只尝试一次：谁都不等待"),
			expectHolds(LockNames{"v1"}, "its lock never expires: see holder-dies", "它的锁永不过期：见 holder-dies"),
			expectHolds(LockNames{"set-expire", "setex"}, "nobody ever waits", "谁都不需要等待"),
			notInRedis(),
		},
	}, {
		Name:    "false-word",
		Claim:   both("Unlock, and every error, says what is so", "解锁的结果和每个错误都如实反映情况"),
		Anomaly: anomaly.FalseWord,
		Expected: []Expectation{
			expectBroken(LockNames{"v2", "v3", "setnx-expire", "lua-setnx"},
				"Unlock deletes another's lock, and says that it was its own", "解锁时删除了别人的锁，却报告是自己的").withScenario("expiry"),
			expectBroken(LockNames{"getset"},
				"Unlock deletes another's lock, and says that it was its own", "解锁时删除了别人的锁，却报告是自己的").withScenario("skew"),
			expectBroken(LockNames{"set-expire", "setex"},
				"it says that it has no lock, and may have one", "它报告没有锁，其实可能有").withScenario("lost-reply"),
			expectBroken(LockNames{"redlock"},
				"Unlock says that the lock was its own, and it is another's by then", "解锁报告锁是自己的，而这时锁已经是别人的").withScenario("node-restart"),
			expectHolds(LockNames{"v1"}, "DEL says whether there was a lock", "DEL 如实报告锁在不在"),
			expectHolds(StepsFrom(4).with("late-commit"), "Redis compares and deletes at once, and says whether it did", "Redis 一步完成比较和删除，并如实报告删没删"),
			notInRedis(),
		},
	}, {
		Name: "token-order",
		Claim: both("each holder's fencing token is larger than those before it, while Redis forgets nothing",
			"只要 Redis 不丢数据，每个持有者的栅栏令牌都大于之前的"),
		Anomaly: anomaly.TokenOrder,
		Expected: []Expectation{
			expectHolds(StepsFrom(7), "the script that gives the lock also counts", "加锁的脚本同时计数"),
			notApplicable(Steps(1, 6).with("redlock", "late-commit", "setnx-expire", "lua-setnx", "getset", "set-expire", "setex"),
				"it has no token", "它没有令牌"),
			notInRedis(),
		},
	}, {
		Name:    "goroutine-leak",
		Claim:   both("no goroutine of a lock outlives its sale", "一单结束后，它的锁的 goroutine 不会继续运行"),
		Anomaly: anomaly.GoroutineLeak,
		Expected: []Expectation{
			expectHolds(StepsFrom(6), "Unlock stops the renewal, and waits for its end", "解锁会停止续期，并等它结束"),
			expectHolds(Steps(0, 5).with("local", "atomic", "optimistic", "non-idempotent", "late-commit",
				"setnx-expire", "lua-setnx", "getset", "set-expire", "setex"),
				"it starts none", "它不启动 goroutine"),
			expectHolds(LockNames{"redlock"}, "a goroutine that asks a node ends with the answer", "向节点发请求的 goroutine 在收到响应后结束"),
		},
	}, {
		Name:    "progress",
		Claim:   both("no sale fails where nothing has gone wrong", "没有出错时，没有一单会失败"),
		Anomaly: anomaly.Progress,
		Expected: []Expectation{
			expectHolds(StepsFrom(0).with("redlock", "local", "atomic", "non-idempotent", "late-commit",
				"setnx-expire", "lua-setnx", "getset", "set-expire", "setex"),
				"only what goes wrong makes it fail; here no wait times out", "只有出错才会使它失败；这里等锁从不超时"),
			expectHolds(LockNames{"optimistic"}, "a refused attempt is made again", "被拒绝的尝试会重做"),
		},
	}}
}
