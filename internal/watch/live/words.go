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

// whyNotTogether takes it back.
func whyNotTogether(first, second string) language.Text {
	return language.Both(
		fmt.Sprintf("%s had left before %s came in; its replica was silent meanwhile", first, second),
		fmt.Sprintf("%s 在 %s 进去之前就离开了；它的进程当时没有消息", first, second))
}

// byLuck says that the numbers are right, and the lock was not.
func byLuck(r history.Report) language.Text {
	return language.Both(
		fmt.Sprintf("%d sold, and this time the stock felt each of them, though the lock let two in", r.Sold),
		fmt.Sprintf("卖出 %d 件，这次每一件都扣了库存，可是锁放进了两个", r.Sold))
}

// meaning tells what a report means, of a run that goes on, too.
func meaning(r history.Report) language.Text {
	switch {
	case r.Lost != 0 || r.Oversold > 0:
		return r.Means()
	case r.Sold == 0:
		return language.Both("nothing is sold yet", "还没有卖出")
	case r.InFlight > 0:
		return language.Both(
			fmt.Sprintf("%d sold so far, and the stock felt each of them", r.Sold),
			fmt.Sprintf("目前卖出 %d 件，每一件都扣了库存", r.Sold))
	default:
		return r.Means()
	}
}
