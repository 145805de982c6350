package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
)

// typicalBuyers is the number of buyers in the findings, if it was measured.
const typicalBuyers = 200

// findings summarizes a run in three sentences: the speed of the locks under load, its cost, and the speed for a single buyer. A sentence
// for which the numbers were not measured is left out.
func findings(run result.Run) string {
	var sentences []string
	if at, found := busiestCondition(run); found {
		sentences = append(sentences, describeSpeed(run, at), describeCost(run, at))
	}
	for _, at := range run.Conditions() {
		if at.Buyers == 1 {
			sentences = append(sentences, describeAlone(run, at))
			break // only the first condition: it has the longest round trip
		}
	}
	return wrapLines(strings.Join(sentences, " "))
}

// wrapLines breaks a text into lines as long as those of the other documents.
func wrapLines(text string) string {
	const longest = 140
	var wrapped strings.Builder
	column := 0
	for word := range strings.FieldsSeq(text) {
		switch {
		case column == 0:
		case column+1+len(word) > longest:
			wrapped.WriteByte('\n')
			column = 0
		default:
			wrapped.WriteByte(' ')
			column++
		}
		wrapped.WriteString(word)
		column += len(word)
	}
	return wrapped.String()
}

// busiestCondition returns the condition with the longest round trip, the most processes, and typicalBuyers, or else the most buyers.
func busiestCondition(run result.Run) (at result.Condition, found bool) {
	all := run.Conditions()
	for _, c := range all {
		if c.AddedMillis != all[0].AddedMillis || c.Buyers == 1 {
			continue
		}
		if !found || c.Processes > at.Processes || c.Processes == at.Processes && at.Buyers != typicalBuyers {
			at, found = c, true
		}
	}
	return at, found
}

// describeCondition returns a condition in words.
func describeCondition(at result.Condition) string {
	text := fmt.Sprintf("%d buyers", at.Buyers)
	if at.Buyers == 1 {
		text = "one buyer"
	}
	switch {
	case at.Buyers > 1 && at.Processes == 1:
		text += " in one process"
	case at.Buyers > 1:
		text += fmt.Sprintf(" in %d processes", at.Processes)
	}
	if at.AddedMillis == 0 {
		return text + " on the machine of Redis"
	}
	return fmt.Sprintf("%s and a round trip of %g ms", text, at.AddedMillis)
}

// contestantShare is a contestant with its share of the limit.
type contestantShare struct {
	name  string
	share float64
}

// rank returns the fastest contestant of these kinds, the second, and the slowest. Names are empty if there are fewer.
func rank(run result.Run, at result.Condition, kinds ...contestants.Kind) (first, second, last contestantShare) {
	seen := map[string]bool{}
	for _, c := range run.Cells {
		share := run.Summary(c.Contestant, at, result.Share).Median
		if !slices.Contains(kinds, c.Kind) || seen[c.Contestant] || math.IsNaN(share) {
			continue
		}
		seen[c.Contestant] = true
		next := contestantShare{c.Contestant, share}
		switch {
		case first.name == "" || share > first.share:
			first, second = next, first
		case second.name == "" || share > second.share:
			second = next
		}
		if last.name == "" || share < last.share {
			last = next
		}
	}
	return first, second, last
}

// describeSpeed returns a sentence about the fastest lock, the fastest library and the slowest lock.
func describeSpeed(run result.Run, at result.Condition) string {
	ours, _, _ := rank(run, at, contestants.Step)
	library, _, _ := rank(run, at, contestants.Library)
	_, second, slowest := rank(run, at, contestants.Step, contestants.Library)
	if ours.name == "" {
		return ""
	}
	text := fmt.Sprintf("With %s, the fastest lock of the evolution, `%s`, sells at %.2f of the limit",
		describeCondition(at), ours.name, ours.share)
	if library.name != "" {
		text += fmt.Sprintf(", the fastest library, `%s`, at %.2f", library.name, library.share)
	}
	if second.name != "" && slowest.name != library.name {
		text += fmt.Sprintf(", and the slowest lock, `%s`, at %.2f", slowest.name, slowest.share)
	}
	return text + "."
}

// describeCost returns a sentence about their requests, their longest waits and the buyers that they never served.
func describeCost(run result.Run, at result.Condition) string {
	ours, _, _ := rank(run, at, contestants.Step)
	library, _, _ := rank(run, at, contestants.Library)
	_, _, slowest := rank(run, at, contestants.Step, contestants.Library)
	var names []string
	for _, name := range []string{ours.name, library.name, slowest.name} {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	enumerate := func(number result.Metric, digits int) string {
		var texts []string
		for _, name := range names {
			texts = append(texts, fmt.Sprintf("%.*f", digits, run.Summary(name, at, number).Median))
		}
		last := len(texts) - 1
		return strings.TrimPrefix(strings.Join(texts[:last], ", ")+" and "+texts[last], " and ")
	}
	return fmt.Sprintf("In this order, a sale takes %s requests, the longest wait is %s times the mean, and %s of the %d buyers never got in.",
		enumerate(result.Requests, 1), enumerate(result.MaxOverMean, 1), enumerate(result.NeverServed, 0), at.Buyers)
}

// describeAlone returns a sentence about the fastest two locks for a single buyer.
func describeAlone(run result.Run, at result.Condition) string {
	first, second, _ := rank(run, at, contestants.Step, contestants.Library)
	if first.name == "" {
		return ""
	}
	text := fmt.Sprintf("With %s, the fastest lock is `%s`, at %.2f of the limit and %.2f requests of the lock per sale",
		describeCondition(at), first.name, first.share, run.Summary(first.name, at, result.LockRequests).Median)
	if second.name != "" {
		text += fmt.Sprintf("; the next, `%s`, reaches %.2f with %.2f", second.name, second.share,
			run.Summary(second.name, at, result.LockRequests).Median)
	}
	return text + "."
}
