package load

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"

	"lockstep/internal/language"

	"github.com/rivo/uniseg"
)

// Print prints the result as a table. In English its rows are named as in the JSON.
func (r Result) Print(to io.Writer, in language.Language) error {
	say := func(english, chinese string) string { return language.Both(english, chinese).In(in) }
	var rows [][2]string // name and value
	row := func(name, format string, args ...any) {
		rows = append(rows, [2]string{name, fmt.Sprintf(format, args...)})
	}
	row(say("lock", "锁"), "%s", r.Lock)
	row(say("requests", "请求"), say("%d in %.2f s: %d sold (%.0f a second), %d sold out, %d failed, %d unknown",
		"%d 个，用时 %.2f 秒：卖出 %d（每秒 %.0f），售罄 %d，失败 %d，结果未知 %d"),
		r.Requests, r.Seconds, r.OK, r.PerSecond, r.SoldOut, r.Failed, r.Unknown)
	for _, code := range sortByCount(r.Failures) {
		row("  "+say("failed", "失败"), "%d × %s", r.Failures[code], code)
	}
	for _, code := range sortByCount(r.Unknowns) {
		row("  "+say("unknown", "结果未知"), "%d × %s", r.Unknowns[code], code)
	}
	if r.Retried > 0 {
		row(say("retried", "重试"),
			say("%d requests of unknown outcome: %d of them had already bought", "%d 个请求因结果未知而重试：其中 %d 个先前已经买到"), r.Retried, r.Replayed)
	}
	row(say("latency", "延迟"),
		say("p50 %.1f ms, p90 %.1f ms, p99 %.1f ms, max %.1f ms", "p50 %.1f 毫秒，p90 %.1f 毫秒，p99 %.1f 毫秒，最大 %.1f 毫秒"),
		r.Latency.P50, r.Latency.P90, r.Latency.P99, r.Latency.Max)
	if r.Unread == "" {
		row(say("stock", "库存"), say("%d at the start, %d left", "开始时 %d，剩下 %d"), r.Initial, r.Remaining)
		row(say("orders", "订单"), say("%d in the ledger%s", "账本里有 %d 个%s"), r.Sold, compareOrders(r, say))
	}
	lost := say("lost", "丢失")
	switch {
	case !r.KnowsLost():
		row(lost, "%s", say("unknown: this needs a ledger with all orders", "未知：账本里的订单齐全才能算出"))
	case r.Lost > 0:
		row(lost, say("%d updates: they have orders, but the stock did not fall", "%d 次扣减：有订单，库存却没有减"), r.Lost)
	case r.Lost < 0:
		row(lost, say("%d pieces: the stock fell by that many more than were sold", "%d 件：库存比卖出的多减了这么多"), -r.Lost)
	default:
		row(lost, "%s", say("none: the stock fell by the number of pieces sold", "没有：卖出多少，库存就减了多少"))
	}
	if r.Oversold > 0 {
		row(say("oversold", "超卖"), say("%d more pieces were sold than were in stock", "比库存多卖出 %d 件"), r.Oversold)
	}
	row(say("verdict", "判定"), say("%s: %s", "%s：%s"), r.Verdict, r.Sentence(in))
	return printRows(to, rows)
}

// printRows prints rows in two columns. Unlike a tabwriter it knows that a Chinese character is as wide as two others.
func printRows(to io.Writer, rows [][2]string) (err error) {
	width := 0
	for _, row := range rows {
		width = max(width, uniseg.StringWidth(row[0]))
	}
	for _, row := range rows {
		_, wrong := fmt.Fprintf(to, "%s%*s%s\n", row[0], width-uniseg.StringWidth(row[0])+2, "", row[1])
		err = cmp.Or(err, wrong)
	}
	return err
}

// sortByCount returns the keys of counts, those with the highest counts first.
func sortByCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// compareOrders returns the end of a sentence on how the number of orders in the ledger differs from the number of confirmed orders.
func compareOrders(r Result, say func(english, chinese string) string) string {
	beyond := r.Sold - int64(r.OK)
	switch {
	case beyond < 0:
		return fmt.Sprintf(say(", but %d were confirmed to buyers: Redis lost the others, or a new run began",
			"，但买家收到了 %d 个订单的确认：Redis 丢失了其余的，或者开始了新的一轮"), r.OK)
	case beyond == 0:
		return ""
	case beyond <= int64(r.Unknown):
		return fmt.Sprintf(say(": of the %d requests whose outcome is unknown, %d were sold", "：结果未知的 %d 个请求中，有 %d 个卖出了"),
			r.Unknown, beyond)
	default:
		return fmt.Sprintf(say(", but only %d were confirmed to these buyers: others bought at the same time",
			"，但这些买家只收到 %d 个订单的确认：同时还有别人在买"), r.OK)
	}
}
