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

// excerpt is a part of a run's history for the picture: successive operations of the run.
type excerpt struct {
	title      string      // caption of the picture
	firstStock int64       // stock before the first operation
	operations []operation // operations by the stock that they found, highest first; nil: none
}

// searchTimeout is the time limit for porcupine's search, which could take very long for an illegal excerpt.
const searchTimeout = 5 * time.Second

// Draw writes the HTML page of porcupine's visualizer. The page shows an excerpt of the history in a legal order or, if there is none, the
// longest legal order of some of its operations. It also shows the faults, and the sales that were not answered 200.
func (r Result) Draw(to io.Writer) error {
	e := r.excerpt
	_, info := porcupine.CheckOperationsVerbose(e.model(), e.porcupineOperations(), searchTimeout)
	info.AddAnnotations(r.annotations(e))
	return porcupine.Visualize(e.model(), info, to)
}

// model returns the specification for porcupine. The state is the stock. An operation is legal if the state is the stock that it found. A
// sale then changes the state to the stock that it left.
func (e excerpt) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return e.firstStock },
		Step: func(state, input, _ any) (bool, any) {
			o := input.(operation) // operations creates all inputs
			return state == o.before, o.after
		},
		DescribeOperation: func(input, _ any) string { return input.(operation).describe() },
		DescribeState:     func(state any) string { return "stock " + thousands(state.(int64)) },
	}
}

// porcupineOperations returns the operations for porcupine. They are distributed over as few lanes as possible, without overlaps in a lane.
// An unknown start or end is replaced by the start or end of the excerpt.
func (e excerpt) porcupineOperations() (all []porcupine.Operation) {
	from, to := timeSpan(e.operations)
	byCall := func(a, b operation) int { return cmp.Compare(a.call, b.call) }
	var freeFrom []int64 // lane → end of its last operation
	for _, o := range slices.SortedFunc(slices.Values(e.operations), byCall) {
		call, end := max(o.call, from), min(o.response, to)
		lane := slices.IndexFunc(freeFrom, func(from int64) bool { return from < call })
		if lane < 0 {
			lane = len(freeFrom)
			freeFrom = append(freeFrom, 0)
		}
		freeFrom[lane] = end
		all = append(all, porcupine.Operation{ClientId: lane, Input: o, Call: call, Return: end})
	}
	return all
}

// timeSpan returns the earliest known start and the latest known end of the operations.
func timeSpan(operations []operation) (from, to int64) {
	from, to = math.MaxInt64, math.MinInt64
	for _, o := range operations {
		if o.call != math.MinInt64 {
			from = min(from, o.call)
		}
		if o.response != math.MaxInt64 {
			to = max(to, o.response)
		}
		to = max(to, o.call)
	}
	return from, to + 1
}

// annotations returns the title, the faults during the excerpt, and the sales that were not answered 200.
func (r Result) annotations(e excerpt) (all []porcupine.Annotation) {
	from, to := timeSpan(e.operations)
	if from < to {
		all = append(all, porcupine.Annotation{Tag: "excerpt", Start: from, End: to, Description: e.title})
	}
	clip := func(begin, end time.Time) (start, stop int64, ok bool) {
		start, stop = r.record.sinceBegan(begin), r.record.sinceBegan(end)
		return max(start, from), min(stop, to), start <= to && stop >= from
	}
	for _, fault := range r.record.Faults {
		if start, stop, ok := clip(fault.Begin, fault.End); ok {
			all = append(all, porcupine.Annotation{
				Tag: "fault", Start: start, End: stop, Description: string(fault.Kind) + " " + fault.Victim, BackgroundColor: "#ffb3a7",
			})
		}
	}
	for _, sale := range r.record.Sales {
		start, stop, ok := clip(sale.Start, sale.End)
		if ok && !sale.isSold() && len(all) < 2*excerptSize {
			all = append(all, porcupine.Annotation{
				Tag: "no 200, buyer " + strconv.Itoa(sale.Buyer), Start: start, End: stop, Description: sale.Code, Details: sale.OrderID,
			})
		}
	}
	return all
}

// describe returns the label of an operation in the picture.
func (o operation) describe() string {
	switch {
	case o.isRead:
		return "read " + thousands(o.before)
	case o.inDoubt:
		return fmt.Sprintf("outcome unknown, but sold: %s → %s", thousands(o.before), thousands(o.after))
	case o.fence > 0:
		return fmt.Sprintf("%s → %s, token %d, %s", thousands(o.before), thousands(o.after), o.fence, o.replica)
	default:
		return fmt.Sprintf("%s → %s, %s", thousands(o.before), thousands(o.after), o.replica)
	}
}

// thousands formats n with commas between groups of three digits.
func thousands[N int | int64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
