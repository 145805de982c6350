package seat

import (
	"strconv"
	"strings"

	"lockstep/internal/language"
)

// faultTitle returns how people call a fault: in English by its name, in words.
func faultTitle(name string) language.Text {
	chinese := map[string]string{
		"expiry": "过期", "slow": "变慢", "pause": "暂停", "crash": "崩溃", "lost-reply": "响应丢失", "cancel": "取消",
		"lost-wake": "唤醒丢失", "failover": "主从切换", "rollback": "回滚", "evict": "淘汰", "late": "命令迟到", "resend": "重发",
		"lost-request": "请求丢失", "timeout": "等锁超时", "clock-jump": "时钟跳变", "redis-clock": "Redis 时钟跳变",
		"spurious-wake": "虚假唤醒", "late-start": "延迟启动", "node-crash": "节点宕机", "node-hang": "节点卡死", "node-restart": "节点重启",
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
