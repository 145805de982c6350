package report

import (
	"fmt"
	"strings"

	"lockstep/internal/explore"
)

// seen says how much was explored.
func seen(r explore.Result) string {
	return r.Scenario.Say("%d schedules, %d states, at most %d steps.", "%d 种时序，%d 个状态，最多 %d 步。", r.Schedules, r.States, r.Depth)
}

// tested says what an exploration has put to the test, and what it has left out.
func tested(r explore.Result) (lines []string) {
	var sold []string
	say, ends := r.Scenario.Say, 0
	for n, times := range r.Coverage.Ends {
		if ends += times; times > 0 {
			sold = append(sold, say("%d with %d sold", "卖出 %[2]d 件的 %[1]d 个", times, n))
		}
	}
	if ends > 0 {
		lines = append(lines, say("End states: %s. States in which a sale waits for another one: %d.",
			"结束状态：%s。一单在等另一单的状态：%d 个。", strings.Join(sold, say(", ", "，")), r.Coverage.Contended))
	}
	var happened []string
	for _, name := range explore.FaultNames() {
		if r.Scenario.Faults.Map()[name] > 0 {
			happened = append(happened, fmt.Sprintf("%s %d", name, r.Coverage.Faults[name]))
		}
	}
	if len(happened) > 0 {
		lines = append(lines, say("Schedules that end with a fault: %s.", "以故障结束的时序：%s。", strings.Join(happened, say(", ", "，"))))
	}
	return lines
}
