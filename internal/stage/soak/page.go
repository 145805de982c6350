package soak

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Summary is a result as numbers and words: the command prints it as JSON.
type Summary struct {
	Lock      string      `json:"lock"`
	Seconds   float64     `json:"seconds"`
	Sales     int         `json:"sales"`
	PerSecond float64     `json:"per_second"`
	Refused   int         `json:"refused"`
	InDoubt   int         `json:"in_doubt"` // sales whose buyer was not told what became of them
	Lost      int64       `json:"lost"`
	Oversold  int64       `json:"oversold"`
	Faults    []KindCount `json:"faults"`
	Rules     []Check     `json:"rules"`
	Verdict   Verdict     `json:"verdict"`
	Reasons   []string    `json:"reasons"`
	Picture   string      `json:"picture,omitempty"` // a file
	Again     string      `json:"again"`             // the command that repeats it
}

// KindCount is what all faults of one kind did.
type KindCount struct {
	Kind  Kind    `json:"kind"`
	Times int     `json:"times"`
	Hit   int     `json:"hit"`  // sales
	Lost  int64   `json:"lost"` // updates
	Back  float64 `json:"back"` // longest time, in seconds, until a quarter of the usual rate was back
}

// Summary sums up.
func (r Result) Summary() Summary {
	took := r.Record.Ended.Sub(r.Record.Began)
	s := Summary{
		Lock: r.Record.Lock, Seconds: took.Seconds(), Sales: r.Sold, PerSecond: float64(r.Sold) / max(took.Seconds(), 1),
		Lost: r.Lost, Oversold: r.Oversold, Faults: r.kinds(), Rules: r.Checks, Verdict: r.Verdict, Reasons: r.reasons(),
	}
	for _, sale := range r.Record.Sales {
		switch sale.outcome() {
		case unknown:
			s.InDoubt++
		case notMade, neverSent:
			s.Refused++
		}
	}
	return s
}

// kinds counts the faults by kind, those that hit most first.
func (r Result) kinds() []KindCount {
	counts := map[Kind]*KindCount{}
	for _, fault := range r.Aftermaths {
		count := counts[fault.Kind]
		if count == nil {
			count = &KindCount{Kind: fault.Kind}
			counts[fault.Kind] = count
		}
		count.Times++
		count.Hit += fault.Hit
		count.Lost += fault.Lost
		count.Back = max(count.Back, fault.Back.Seconds())
	}
	all := []KindCount{}
	for _, kind := range slices.SortedFunc(maps.Keys(counts), func(a, b Kind) int {
		return cmp.Or(counts[b].Hit-counts[a].Hit, cmp.Compare(a, b))
	}) {
		all = append(all, *counts[kind])
	}
	return all
}

// reasons says why the verdict is what it is.
func (r Result) reasons() (all []string) {
	for _, check := range r.Checks {
		switch {
		case check.Broken > 0:
			all = append(all, fmt.Sprintf("%s: broken %s", check.Rule, times(check.Broken)))
		case check.Unchecked > 0:
			all = append(all, fmt.Sprintf("%s: not known %s", check.Rule, times(check.Unchecked)))
		}
	}
	if r.Verdict == AsPredicted {
		return []string{fmt.Sprintf("updates lost: %s, only by faults that %s cannot stand", thousands(r.Lost), r.Record.Lock)}
	}
	if len(all) == 0 {
		return []string{"every rule holds, and every fault hit somebody"}
	}
	return all
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return thousands(n) + " times"
}

// Page tells it for people.
func (s Summary) Page() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\nA soak of %s for %s, under real faults\n\n", s.Lock, time.Duration(s.Seconds*float64(time.Second)).Round(time.Second))
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%s\tsales\t%.0f a second\t\n", thousands(s.Sales), s.PerSecond)
	fmt.Fprintf(table, "%s\tlost\t%s oversold\t\n", thousands(s.Lost), thousands(s.Oversold))
	fmt.Fprintf(table, "%s\trefused\t%s in doubt\t\n", thousands(s.Refused), thousands(s.InDoubt))
	_ = table.Flush() // into memory
	fmt.Fprintln(&b)
	table = tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "fault\ttimes\tsales hit\tupdates lost\tsales back after at most")
	for _, fault := range s.Faults {
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%.1f s\n", fault.Kind, fault.Times, thousands(fault.Hit), thousands(fault.Lost), fault.Back)
	}
	_ = table.Flush() // into memory
	fmt.Fprintln(&b)
	for _, check := range s.Rules {
		fmt.Fprintf(&b, "%s %s: %s\n", check.mark(), check.Rule, check.counts())
		for _, line := range check.Says {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	fmt.Fprintf(&b, "\n%s: %s\n", s.Verdict, strings.Join(s.Reasons, "; "))
	if s.Picture != "" {
		fmt.Fprintf(&b, "picture: %s\n", s.Picture)
	}
	fmt.Fprintf(&b, "again:   %s\n", s.Again)
	return b.String()
}

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

// counts tells how many cases there were.
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
