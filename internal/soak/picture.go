package soak

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"
)

// excerpt is a part of a run's history for a picture: the changes that take the stock down from one level to another.
type excerpt struct {
	title      string
	firstStock int64 // the stock at its beginning
	changes    []change
}

// Draw draws a part of a history as porcupine does, in a page for a browser: an order that fits or how far one does, and the faults.
func (r Result) Draw(to io.Writer) error {
	s := r.excerpt
	_, info := porcupine.CheckOperationsVerbose(s.model(), s.operations(), 5*time.Second)
	info.AddAnnotations(r.annotations(s))
	return porcupine.Visualize(s.model(), info, to)
}

// model is what porcupine draws: one number, which a sale must find as it says, and which is then what the sale left; and which readers
// must find, too.
func (s excerpt) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return s.firstStock },
		Step: func(state, input, _ any) (bool, any) {
			c := input.(change) // operations makes no others
			return state == c.before, c.after
		},
		DescribeOperation: func(input, _ any) string { return input.(change).describe() },
		DescribeState:     func(state any) string { return "stock " + thousands(state.(int64)) },
	}
}

// operations returns the changes in as few lanes as there are changes at once; a lane has no two at once. What has no beginning or end of
// its own has the stretch's.
func (s excerpt) operations() (all []porcupine.Operation) {
	from, to := timeSpan(s.changes)
	byCall := func(a, b change) int { return cmp.Compare(a.call, b.call) }
	var free []int64 // of each lane: from when on
	for _, c := range slices.SortedFunc(slices.Values(s.changes), byCall) {
		call, end := max(c.call, from), min(c.response, to)
		lane := slices.IndexFunc(free, func(from int64) bool { return from < call })
		if lane < 0 {
			lane, free = len(free), append(free, 0)
		}
		free[lane] = end
		all = append(all, porcupine.Operation{ClientId: lane, Input: c, Call: call, Return: end})
	}
	return all
}

// timeSpan returns the first moment and the last that some changes know.
func timeSpan(changes []change) (from, to int64) {
	from, to = math.MaxInt64, math.MinInt64
	for _, c := range changes {
		if c.call != math.MinInt64 {
			from = min(from, c.call)
		}
		if c.response != math.MaxInt64 {
			to = max(to, c.response)
		}
		to = max(to, c.call)
	}
	return from, to + 1
}

// annotations returns what is shown, the faults in that time, and the sales that were not made or of which nobody knows.
func (r Result) annotations(s excerpt) (all []porcupine.Annotation) {
	from, to := timeSpan(s.changes)
	if from < to {
		all = append(all, porcupine.Annotation{Tag: "shown", Start: from, End: to, Description: s.title})
	}
	overlap := func(begin, end time.Time) (start, stop int64, ok bool) {
		start, stop = r.record.sinceBegan(begin), r.record.sinceBegan(end)
		return max(start, from), min(stop, to), start <= to && stop >= from
	}
	for _, fault := range r.record.Faults {
		if start, stop, ok := overlap(fault.Begin, fault.End); ok {
			all = append(all, porcupine.Annotation{
				Tag: "fault", Start: start, End: stop, Description: string(fault.Kind) + " " + fault.Victim, BackgroundColor: "#ffb3a7",
			})
		}
	}
	for _, sale := range r.record.Sales {
		start, stop, ok := overlap(sale.Start, sale.End)
		if ok && !sale.sold() && len(all) < 2*pictureSize {
			all = append(all, porcupine.Annotation{
				Tag: "no 200, buyer " + strconv.Itoa(sale.Buyer), Start: start, End: stop, Description: sale.Code, Details: sale.OrderID,
			})
		}
	}
	return all
}

func (c change) describe() string {
	switch {
	case c.isRead:
		return "a reader sees " + thousands(c.before)
	case c.inDoubt:
		return fmt.Sprintf("in doubt, but sold: %s → %s", thousands(c.before), thousands(c.after))
	case c.fence > 0:
		return fmt.Sprintf("%s → %s, token %d, %s", thousands(c.before), thousands(c.after), c.fence, c.replica)
	default:
		return fmt.Sprintf("%s → %s, %s", thousands(c.before), thousands(c.after), c.replica)
	}
}

func thousands[N int | int64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
