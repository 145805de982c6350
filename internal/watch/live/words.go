package live

import (
	"fmt"

	"lockstep/internal/language"
	"lockstep/internal/service/history"
)

// areTogether says so while it goes on.
func areTogether(a, b string) language.Text {
	return language.Both(fmt.Sprintf("%s and %s are inside together", a, b), fmt.Sprintf("%s 和 %s 同时在临界区里", a, b))
}

// notTogether takes it back.
func notTogether(first, second string) language.Text {
	return language.Both(
		fmt.Sprintf("%s had left before %s came in; its replica was silent meanwhile", first, second),
		fmt.Sprintf("%s 在 %s 进去之前就离开了；它的进程当时没有消息", first, second))
}

// Verdict says what a report means, in words.
func Verdict(r history.Report) language.Text {
	both, fell := language.Both, r.Initial-r.Remaining
	switch {
	case r.Lost > 0 && r.Oversold > 0:
		return both(
			fmt.Sprintf("%d sold of %d, the stock felt %d: %s lost", r.Sold, r.Initial, fell, were(r.Lost, "update")),
			fmt.Sprintf("库存 %d 件，卖出 %d 件，库存只减了 %d 件：丢失了 %d 次扣减", r.Initial, r.Sold, fell, r.Lost))
	case r.Lost > 0:
		return both(
			fmt.Sprintf("%d sold, the stock felt %d: %s lost", r.Sold, fell, were(r.Lost, "update")),
			fmt.Sprintf("卖出 %d 件，库存只减了 %d 件：丢失了 %d 次扣减", r.Sold, fell, r.Lost))
	case r.Oversold > 0:
		return both(
			fmt.Sprintf("%d sold of %d: %d more than there were", r.Sold, r.Initial, r.Oversold),
			fmt.Sprintf("库存 %d 件，卖出 %d 件：多卖了 %d 件", r.Initial, r.Sold, r.Oversold))
	case r.Lost < 0:
		return both(
			fmt.Sprintf("%d sold, the stock fell by %d: %s gone without an order", r.Sold, fell, were(-r.Lost, "piece")),
			fmt.Sprintf("卖出 %d 件，库存减了 %d：%d 件没有订单就不见了", r.Sold, fell, -r.Lost))
	case r.Sold == 0:
		return both("nothing is sold yet", "还没有卖出")
	case r.InFlight > 0:
		return both(
			fmt.Sprintf("%d sold so far, and the stock felt each of them", r.Sold),
			fmt.Sprintf("目前卖出 %d 件，每一件都扣了库存", r.Sold))
	case r.Verdict == history.Pass:
		return both(
			fmt.Sprintf("%d sold, and the stock felt each of them, with up to %d requests in flight at once", r.Sold, r.MaxInFlight),
			fmt.Sprintf("卖出 %d 件，每一件都扣了库存；最多有 %d 个请求同时在处理", r.Sold, r.MaxInFlight))
	default:
		return both(
			fmt.Sprintf("%d sold, and the stock felt each; no two requests were in flight at once, so nothing was put to the test", r.Sold),
			fmt.Sprintf("卖出 %d 件，每一件都扣了库存；没有两个请求同时在处理，所以什么也没有验证", r.Sold))
	}
}

func were(n int64, what string) string {
	if n == 1 {
		return "1 " + what + " was"
	}
	return fmt.Sprintf("%d %ss were", n, what)
}
