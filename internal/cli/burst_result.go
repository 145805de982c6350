package cli

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"lockstep/internal/load"
)

// printResult prints the result of a burst for people.
func printResult(to io.Writer, r load.Result) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("lock", "%s", r.Lock)
	row("requests", "%d in %.2f s: %d sold (%.0f a second), %d sold out, %d failed, %d unknown",
		r.Requests, r.Seconds, r.OK, r.PerSecond, r.SoldOut, r.Failed, r.Unknown)
	for _, code := range mostFirst(r.Failures) {
		row("  failed", "%d × %s", r.Failures[code], code)
	}
	for _, code := range mostFirst(r.Unknowns) {
		row("  unknown", "%d × %s", r.Unknowns[code], code)
	}
	row("latency", "p50 %.1f ms, p90 %.1f ms, p99 %.1f ms, max %.1f ms", r.Latency.P50, r.Latency.P90, r.Latency.P99, r.Latency.Max)
	row("stock", "%d at first, %d left", r.Initial, r.Remaining)
	row("orders", "%d in the ledger%s", r.Sold, compared(r))
	switch {
	case r.Lost > 0:
		row("lost", "%d updates: orders that the stock did not fall by", r.Lost)
	case r.Lost < 0:
		row("lost", "%d pieces: the stock fell by so many more than were sold", -r.Lost)
	default:
		row("lost", "nothing: the stock fell by as many as were sold")
	}
	if r.Oversold > 0 {
		row("oversold", "%d more were sold than there were", r.Oversold)
	}
	row("verdict", "%s: %s", r.Verdict, r.Reason)
	return table.Flush()
}

func mostFirst(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
}

// compared says how the number of orders in the ledger differs from the number of answered sales.
func compared(r load.Result) string {
	beyond := -r.Missing()
	switch {
	case beyond < 0:
		return fmt.Sprintf(", but %d buyers were told that they bought: Redis lost the others, or a new run began", r.OK)
	case beyond == 0:
		return ""
	case beyond <= int64(r.Unknown):
		return fmt.Sprintf(": of the %d requests whose outcome is unknown, %d were sold", r.Unknown, beyond)
	default:
		return fmt.Sprintf(", but %d buyers were told that they bought: others bought meanwhile", r.OK)
	}
}
