package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Report tells what happened, for people, and the verdict.
func Report(r Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "chaos on %s for %.0fs: %d sales answered 200, %d not\n",
		r.Lock, r.Ended.Sub(r.Began).Seconds(), len(paceOf(r)), len(r.Sales)-len(paceOf(r)))
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "at\tfault\tfor\tsales/s before\thalf back after\tsold\tnot sold")
	for _, seen := range Aftermaths(r) {
		name, back := string(seen.Kind), fmt.Sprintf("%.1fs", seen.Back.Seconds())
		if seen.Victim != "" {
			name += " " + seen.Victim
		}
		if !seen.WasBack {
			back = "never (" + back + ")"
		}
		fmt.Fprintf(table, "%s\t%s\t%.1fs\t%.0f\t%s\t%d\t%s\n",
			r.at(seen.Begin), name, seen.End.Sub(seen.Begin).Seconds(), seen.Usual, back, seen.Sold, counts(seen.Codes))
	}
	_ = table.Flush() // into memory
	checks, verdict := Judge(r)
	for _, check := range checks {
		fmt.Fprintf(&b, "%s %s: %d checked", mark(check), check.Rule, check.Checked)
		for _, n := range []struct {
			count int
			word  string
		}{{check.Broken, "broken"}, {check.Excused, "excused"}, {check.Unchecked, "not checked"}} {
			if n.count > 0 {
				fmt.Fprintf(&b, ", %d %s", n.count, n.word)
			}
		}
		fmt.Fprintln(&b)
		for _, line := range check.Says {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	fmt.Fprintf(&b, "verdict: %s\n", verdict)
	return b.String()
}

func mark(c Check) string {
	switch {
	case c.Broken > 0:
		return "✗"
	case c.Unchecked > 0:
		return "?"
	default:
		return "✓"
	}
}

// counts lists codes, the most frequent first.
func counts(codes map[string]int) string {
	var words []string
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		words = append(words, fmt.Sprintf("%d %s", codes[code], code))
	}
	return strings.Join(words, ", ")
}
