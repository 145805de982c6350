package soak

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/anishathalye/porcupine"
)

// Draw draws a part of a history as a page for a browser: a lane for each buyer, an order that fits or how far one does, and the
// faults. The drawing is porcupine's.
func (r Result) Draw(to io.Writer) error {
	s := r.shown.clamped()
	_, info := porcupine.CheckOperationsVerbose(s.stock(), s.operations(), 5*time.Second)
	info.AddAnnotations(r.annotations(s))
	var page bytes.Buffer
	if err := porcupine.Visualize(s.stock(), info, &page); err != nil {
		return err
	}
	_, err := to.Write(bytes.Replace(page.Bytes(), []byte("<body>"), []byte("<body>\n"+s.legend()), 1))
	return err
}

// legend says what the drawing shows, above it.
func (s stretch) legend() string {
	return `<p style="padding-top: 2em">` + html.EscapeString(s.title()) + "</p>\n" + // below a bar that is always at the top
		"<p>A bar is a sale from its request to its answer, or a look at the stock. The line goes through an order that fits, as far as " +
		"there is one: each sale finds what the one before it left. At the bottom: the faults, and who got no 200.</p>"
}

// clamped returns the changes without open ends: what has no beginning or end of its own has theirs.
func (s stretch) clamped() stretch {
	from, to := span(s.changes)
	s.changes = slices.Clone(s.changes)
	for i := range s.changes {
		s.changes[i].called, s.changes[i].returned = max(s.changes[i].called, from), min(s.changes[i].returned, to)
	}
	return s
}

// span returns the first moment and the last that some changes know.
func span(changes []change) (from, to int64) {
	from, to = math.MaxInt64, math.MinInt64
	for _, c := range changes {
		if c.called != math.MinInt64 {
			from = min(from, c.called)
		}
		if c.returned != math.MaxInt64 {
			to = max(to, c.returned)
		}
		to = max(to, c.called)
	}
	return from, to + 1
}

// annotations returns the faults in that time, and the sales that were not made or of which nobody knows.
func (r Result) annotations(s stretch) (all []porcupine.Annotation) {
	from, to := span(s.changes)
	within := func(begin, end time.Time) (start, stop int64, is bool) {
		start, stop = r.record.nanos(begin), r.record.nanos(end)
		return max(start, from), min(stop, to), start <= to && stop >= from
	}
	for _, fault := range r.record.Faults {
		if start, stop, is := within(fault.Begin, fault.End); is {
			all = append(all, porcupine.Annotation{
				Tag: "fault", Start: start, End: stop, Description: string(fault.Kind) + " " + fault.Victim, BackgroundColor: "#ffb3a7",
			})
		}
	}
	for _, sale := range r.record.Sales {
		start, stop, is := within(sale.Start, sale.End)
		if is && !sale.sold() && len(all) < 2*pictureSize {
			all = append(all, porcupine.Annotation{
				Tag: "no 200, buyer " + strconv.Itoa(sale.Buyer), Start: start, End: stop, Description: sale.Code, Details: sale.OrderID,
			})
		}
	}
	return all
}

func (s stretch) title() string {
	if s.legal {
		return "A part of the history that fits into one order: " + s.why
	}
	return "A part of the history that does not fit into one order: " + s.why
}

// says tells a change in a few words.
func (c change) says() string {
	switch {
	case c.reading:
		return "a reader sees " + thousands(c.before)
	case c.doubted:
		return fmt.Sprintf("in doubt, but sold: %s → %s", thousands(c.before), thousands(c.after))
	case c.fence > 0:
		return fmt.Sprintf("%s → %s, token %d, %s", thousands(c.before), thousands(c.after), c.fence, c.replica)
	default:
		return fmt.Sprintf("%s → %s, %s", thousands(c.before), thousands(c.after), c.replica)
	}
}

// lanes puts changes into as few lanes as there are changes at once; a lane has no two at once.
func lanes(changes []change) []int {
	order := make([]int, len(changes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(changes[a].called, changes[b].called) })
	lane := make([]int, len(changes))
	var free []int64 // from when on
	for _, i := range order {
		at := slices.IndexFunc(free, func(from int64) bool { return from < changes[i].called })
		if at < 0 {
			at, free = len(free), append(free, 0)
		}
		lane[i], free[at] = at, changes[i].returned
	}
	return lane
}

// thousands writes a number with commas.
func thousands[N int | int64](n N) string {
	text := strconv.FormatInt(int64(n), 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
