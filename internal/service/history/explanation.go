package history

import (
	"fmt"

	"lockstep/internal/language"
	"lockstep/internal/verdict"
)

// Explanation explains the verdict in words.
func (r Report) Explanation() language.Text {
	fell := r.Initial - r.Remaining
	switch {
	case r.Lost > 0 && r.Oversold > 0:
		return language.Both(
			fmt.Sprintf("%d sold of %d, and the stock fell by %d only: %s lost",
				r.Sold, r.Initial, fell, formatCount(r.Lost, "update was", "updates were")),
			fmt.Sprintf("库存 %d 件，卖出 %d 件，库存只减了 %d 件：丢失了 %d 次扣减", r.Initial, r.Sold, fell, r.Lost))
	case r.Lost > 0:
		items := "those items"
		if r.Lost == 1 {
			items = "that item"
		}
		return language.Both(
			fmt.Sprintf("%d sold, but the stock fell by %d only: %s lost, and %s can be sold twice",
				r.Sold, fell, formatCount(r.Lost, "update was", "updates were"), items),
			fmt.Sprintf("卖出 %d 件，库存只减了 %d 件：丢失了 %d 次扣减，这些库存会被重复售出", r.Sold, fell, r.Lost))
	case r.Oversold > 0:
		return language.Both(
			fmt.Sprintf("%d sold of %d: %d more than there were", r.Sold, r.Initial, r.Oversold),
			fmt.Sprintf("库存 %d 件，卖出 %d 件：多卖了 %d 件", r.Initial, r.Sold, r.Oversold))
	case r.Lost < 0:
		return language.Both(
			fmt.Sprintf("%d sold, but the stock fell by %d: %s gone without an order", r.Sold, fell, formatCount(-r.Lost, "piece is", "pieces are")),
			fmt.Sprintf("卖出 %d 件，库存却减了 %d 件：其中 %d 件没有对应的订单", r.Sold, fell, -r.Lost))
	case r.Verdict == verdict.Pass:
		where := language.Both("", "")
		if r.InFlight > r.MaxInFlight { // InFlight counts all replicas, MaxInFlight only one: unexplained, the numbers contradict each other.
			where = language.Both(" in one replica", "同一实例内")
		}
		return language.Both(
			fmt.Sprintf("stock and orders agree, with at least %d requests in flight at once%s", r.MaxInFlight, where.In(language.English)),
			fmt.Sprintf("卖出 %d 件，每一件都扣了库存；%s至少有 %d 个请求同时在处理", r.Sold, where.In(language.Chinese), r.MaxInFlight))
	case r.Sold == 0:
		return language.Both("nothing was sold, so nothing was put to the test", "什么也没有卖出，所以什么也没有验证")
	default:
		return language.Both("no two requests were in flight at once, so nothing was put to the test",
			fmt.Sprintf("卖出 %d 件，每一件都扣了库存；没有两个请求同时在处理，所以什么也没有验证", r.Sold))
	}
}

// formatCount formats a number with the singular or plural noun phrase after it.
func formatCount(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
