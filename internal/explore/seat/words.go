package seat

import (
	"strconv"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/trace"
)

// otherwise says that a step does something else than when its link was made.
func otherwise(in explore.Scenario, n int, step trace.Step) string {
	now := step.Says
	if step.Command != "" {
		now = step.Command + " → " + step.Reply
	}
	return in.Say("step %d, %s, does something else than when the link was made; now: %s",
		"第 %d 步 %s 与生成链接时的行为不同，现在是：%s", n, step.Token, now)
}

// task is what a reader sets out to do.
func task(lock string, goal explore.Anomaly, in language.Language) string {
	return in.Say("Make %s %s", "让 %s %s", lock, goal.Row().Task.In(in))
}

// faultTitle returns how people call a fault: in English by its name, in words.
func faultTitle(name string) language.Text {
	chinese := map[string]string{
		"expiry": "过期", "slow": "变慢", "pause": "暂停", "crash": "崩溃", "lost-reply": "响应丢失", "cancel": "取消",
		"lost-wake": "唤醒丢失", "failover": "主从切换", "rollback": "回滚", "evict": "淘汰", "late": "命令迟到", "resend": "重发",
		"lost-request": "请求丢失", "timeout": "等锁超时", "clock-jump": "时钟跳变", "redis-clock": "Redis 时钟跳变",
		"spurious-wake": "虚假唤醒", "late-start": "延迟启动", "node-crash": "节点宕机", "node-hang": "节点卡住", "node-restart": "节点重启",
	}[name]
	return language.Both(strings.ReplaceAll(name, "-", " "), chinese)
}

// faultsInWords writes budgets, such as expiry=1,node-crash=2, as people call them.
func faultsInWords(budgets string, in language.Language) string {
	var words []string
	for budget := range strings.SplitSeq(budgets, ",") {
		name, times, _ := strings.Cut(budget, "=")
		word := faultTitle(name).In(in)
		if n, err := strconv.Atoi(times); err == nil && n > 1 {
			word += " ×" + times
		}
		words = append(words, word)
	}
	return strings.Join(words, language.Both(", ", "、").In(in))
}

// lacking says that a step needs faults that the scenario does not allow.
func lacking(in explore.Scenario, step int, needs string) string {
	return in.Say("step %d: the scenario allows too few faults for it. It takes: %s",
		"第 %d 步：场景允许的故障不够。需要：%s", step, faultsInWords(needs, in.Language))
}
