package load

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"lockstep/internal/language"
)

// Print prints the result for people. The names of its rows are those of the JSON, in each language.
func (r Result) Print(to io.Writer, in language.Language) error {
	say := func(english, chinese string) string { return language.Both(english, chinese).In(in) }
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("lock", "%s", r.Lock)
	row("requests", say("%d in %.2f s: %d sold (%.0f a second), %d sold out, %d failed, %d unknown",
		"%d 个，用时 %.2f 秒：卖出 %d（每秒 %.0f），售罄 %d，失败 %d，结果未知 %d"),
		r.Requests, r.Seconds, r.OK, r.PerSecond, r.SoldOut, r.Failed, r.Unknown)
	for _, code := range sortByCount(r.Failures) {
		row("  failed", "%d × %s", r.Failures[code], code)
	}
	for _, code := range sortByCount(r.Unknowns) {
		row("  unknown", "%d × %s", r.Unknowns[code], code)
	}
	if r.Retried > 0 {
		row("retried", say("%d requests asked again after a doubt: %d of them had bought before", "%d 个请求在结果未知时重试：其中 %d 个先前已经买到"),
			r.Retried, r.Replayed)
	}
	row("latency", say("p50 %.1f ms, p90 %.1f ms, p99 %.1f ms, max %.1f ms", "p50 %.1f 毫秒，p90 %.1f 毫秒，p99 %.1f 毫秒，最大 %.1f 毫秒"),
		r.Latency.P50, r.Latency.P90, r.Latency.P99, r.Latency.Max)
	if r.Unread == "" {
		row("stock", say("%d at first, %d left", "开始时 %d，剩下 %d"), r.Initial, r.Remaining)
		row("orders", say("%d in the ledger%s", "账本里有 %d 个%s"), r.Sold, compareOrders(r, say))
	}
	switch {
	case !r.KnowsLost():
		row("lost", "%s", say("not known: only a ledger with every order can say", "未知：只有订单齐全的账本才说得清"))
	case r.Lost > 0:
		row("lost", say("%d updates: orders that the stock did not fall by", "%d 次扣减：有订单，库存却没有减"), r.Lost)
	case r.Lost < 0:
		row("lost", say("%d pieces: the stock fell by so many more than were sold", "%d 件：库存比卖出的多减了这么多"), -r.Lost)
	default:
		row("lost", "%s", say("nothing: the stock fell by as many as were sold", "没有：卖出多少，库存就减了多少"))
	}
	if r.Oversold > 0 {
		row("oversold", say("%d more were sold than there were", "比库存多卖出 %d 件"), r.Oversold)
	}
	row("verdict", say("%s: %s", "%s：%s"), r.Verdict, r.Sentence(in))
	return table.Flush()
}

func sortByCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// compareOrders says how the number of orders in the ledger differs from the number of answered sales.
func compareOrders(r Result, say func(english, chinese string) string) string {
	beyond := r.Sold - int64(r.OK)
	switch {
	case beyond < 0:
		return fmt.Sprintf(say(", but %d buyers were told that they bought: Redis lost the others, or a new run began",
			"，但有 %d 个买家被告知买到了：Redis 丢失了其余的，或者开始了新的一轮"), r.OK)
	case beyond == 0:
		return ""
	case beyond <= int64(r.Unknown):
		return fmt.Sprintf(say(": of the %d requests whose outcome is unknown, %d were sold", "：结果未知的 %d 个请求中，有 %d 个卖出了"),
			r.Unknown, beyond)
	default:
		return fmt.Sprintf(say(", but %d buyers were told that they bought: others bought meanwhile",
			"，但只有 %d 个买家被告知买到了：同时还有别人在买"), r.OK)
	}
}
