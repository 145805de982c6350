package session

import (
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/explore"
)

// resultText returns a text about the result of a schedule that is over: the outcome of each sale, and the stock.
func resultText(run *explore.Run, v View) string {
	say := run.Engine.Scenario.Say
	var sold, others []string
	for _, a := range run.Engine.Actors() {
		waits := slices.IndexFunc(v.Disabled, func(d Disabled) bool { return d.What == a.Name })
		switch {
		case a.Dead():
			others = append(others, say("%s died", "%s 已崩溃", a.Name))
		case !a.Finished() && waits >= 0:
			others = append(others, v.Disabled[waits].Why)
		case !a.Finished():
			others = append(others, say("%s waits", "%s 在等待", a.Name))
		case a.Err() != nil:
			others = append(others, say("%s ended without a sale", "%s 没有卖出就结束了", a.Name))
		default:
			sold = append(sold, a.Name)
		}
	}
	stock := ""
	if last := len(v.Steps) - 1; last >= 0 {
		stock = v.Steps[last].Stock
	}
	first := say("Stock %s", "库存 %s", stock)
	switch {
	case len(sold) == 2 && len(others) == 0:
		first = say("Both sold, stock %s", "两单都卖出了，库存 %s", stock)
	case len(sold) > 0:
		first = say("%s sold, stock %s", "%s 卖出了，库存 %s", strings.Join(sold, say(" and ", "、")), stock)
	}
	if stock == strconv.Itoa(v.State.Due) {
		first += say(": correct", "，正确")
	}
	text := ""
	for _, sentence := range append([]string{first}, others...) {
		text += sentence + say(". ", "。")
	}
	return strings.TrimSpace(text)
}
