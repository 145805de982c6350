package cli

import (
	"fmt"
	"strings"

	"lockstep/internal/explore"
)

// tested says what an exploration has put to the test, and what it has left out.
func tested(r explore.Result) string {
	var lines []string
	var sold []string
	ends := 0
	for n, times := range r.Coverage.Ends {
		if ends += times; times > 0 {
			sold = append(sold, fmt.Sprintf("%d with %d sold", times, n))
		}
	}
	if ends > 0 {
		lines = append(lines, fmt.Sprintf("End states: %s. States in which a sale waits for another one: %d.",
			strings.Join(sold, ", "), r.Coverage.Contended))
	}
	var happened []string
	for _, name := range explore.FaultNames() {
		if r.Scenario.Faults.Map()[name] > 0 {
			happened = append(happened, fmt.Sprintf("%s %d", name, r.Coverage.Faults[name]))
		}
	}
	if len(happened) > 0 {
		lines = append(lines, fmt.Sprintf("Schedules that end with a fault: %s.", strings.Join(happened, ", ")))
	}
	if r.Coverage.Beyond {
		lines = append(lines, fmt.Sprintf("Waiters that had no news asked again %d times in all, and no more (--polls).", r.Scenario.PollsInVain()))
	}
	return strings.Join(append(lines, ""), "\n")
}
