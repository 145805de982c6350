package soak

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// KindSummary summarizes the aftermaths of all faults of one kind.
type KindSummary struct {
	Kind     Kind    `json:"kind"`
	Times    int     `json:"times"` // number of faults
	SalesHit int     `json:"hit"`   // sales that the faults hit
	Lost     int64   `json:"lost"`  // lost updates
	Recovery float64 `json:"back"`  // longest time in seconds until sales reached a quarter of the usual rate
}

// summarizeKinds returns a summary of each kind, sorted by the number of sales hit, highest first.
func summarizeKinds(faults []Aftermath) []KindSummary {
	all := []KindSummary{}
	for _, fault := range faults {
		i := slices.IndexFunc(all, func(c KindSummary) bool { return c.Kind == fault.Kind })
		if i < 0 {
			i, all = len(all), append(all, KindSummary{Kind: fault.Kind})
		}
		count := &all[i]
		count.Times++
		count.SalesHit += fault.SalesHit
		count.Lost += fault.Lost
		count.Recovery = max(count.Recovery, fault.Recovery.Seconds())
	}
	slices.SortFunc(all, func(a, b KindSummary) int { return cmp.Or(b.SalesHit-a.SalesHit, cmp.Compare(a.Kind, b.Kind)) })
	return all
}

// countText formats a number of times: "once" or "3 times".
func countText(n int) string {
	if n == 1 {
		return "once"
	}
	return thousands(n) + " times"
}

// Text returns the result as the command prints it.
func (r Result) Text() string {
	var b strings.Builder
	duration := time.Duration(r.Seconds * float64(time.Second)).Round(time.Second)
	fmt.Fprintf(&b, "\nSoak test of %s: %s under real faults\n\n", r.Lock, duration)
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%s\tsales\t%.0f a second\t\n", thousands(r.Sales), r.PerSecond)
	fmt.Fprintf(table, "%s\tupdates lost\t%s oversold\t\n", thousands(r.Lost), thousands(r.Oversold))
	fmt.Fprintf(table, "%s\trefused\t%s of unknown outcome\t\n", thousands(r.Refused), thousands(r.InDoubt))
	_ = table.Flush() // writing to a strings.Builder cannot fail
	fmt.Fprintln(&b)
	table = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "fault\ttimes\tsales hit\tupdates lost\tlongest recovery")
	for _, fault := range r.Faults {
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%.1f s\n", fault.Kind, fault.Times, thousands(fault.SalesHit), thousands(fault.Lost), fault.Recovery)
	}
	_ = table.Flush() // writing to a strings.Builder cannot fail
	fmt.Fprintln(&b)
	for _, check := range r.Rules {
		fmt.Fprintf(&b, "%s %s: %s\n", check.mark(), check.Rule, check.counts())
		for _, line := range check.Notes {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	fmt.Fprintf(&b, "\n%s: %s\n", r.Verdict, strings.Join(r.Reasons, "; "))
	if r.Picture != "" {
		fmt.Fprintf(&b, "picture: %s\n", r.Picture)
	}
	fmt.Fprintf(&b, "repeat:  %s\n", r.Command)
	return b.String()
}

// mark returns the mark before a rule: ✗ for broken, ? for unchecked, ✓ otherwise.
func (c Check) mark() string {
	switch {
	case c.Broken > 0:
		return "✗"
	case c.Unchecked > 0:
		return "?"
	default:
		return "✓"
	}
}

// counts returns the numbers of cases as a text.
func (c Check) counts() string {
	text := thousands(c.Checked) + " checked"
	for _, n := range []struct {
		count int
		word  string
	}{{c.Broken, "broken"}, {c.Excused, "excused"}, {c.Unchecked, "not checked"}} {
		if n.count > 0 {
			text += fmt.Sprintf(", %s %s", thousands(n.count), n.word)
		}
	}
	return text
}
