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

// Picture draws the window of a history as a page for a browser: a lane for each buyer, an order that fits or how far one does, and the
// faults. The drawing is porcupine's.
func (r Result) Picture(to io.Writer) error {
	w := r.Window.clamped()
	_, info := porcupine.CheckOperationsVerbose(w.stock(), w.operations(), 5*time.Second)
	info.AddAnnotations(r.annotations(w))
	var page bytes.Buffer
	if err := porcupine.Visualize(w.stock(), info, &page); err != nil {
		return err
	}
	_, err := to.Write(bytes.Replace(page.Bytes(), []byte("<body>"), []byte("<body>\n"+legend(w)), 1))
	return err
}

// legend says what the drawing shows, above it.
func legend(w Window) string {
	return `<p style="padding-top: 2em">` + html.EscapeString(w.title()) + "</p>\n" + // below a bar that is always at the top
		"<p>A bar is a sale from its request to its answer, or a look at the stock. The line goes through an order that fits, as far as " +
		"there is one: each sale finds what the one before it left. At the bottom: the faults, and who got no 200.</p>"
}

// clamped gives the window without open ends: what has no beginning or end of its own has the window's.
func (w Window) clamped() Window {
	from, to := w.span()
	w.changes = slices.Clone(w.changes)
	for i := range w.changes {
		w.changes[i].called, w.changes[i].returned = max(w.changes[i].called, from), min(w.changes[i].returned, to)
	}
	return w
}

// span gives from the first to the last moment that the window knows.
func (w Window) span() (from, to int64) {
	from, to = math.MaxInt64, math.MinInt64
	for _, c := range w.changes {
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

// annotations gives the faults in a window, and the sales that were not made or of which nobody knows.
func (r Result) annotations(w Window) (all []porcupine.Annotation) {
	from, to := w.span()
	within := func(begin, end time.Time) (start, stop int64, is bool) {
		start, stop = r.Record.nanos(begin), r.Record.nanos(end)
		return max(start, from), min(stop, to), start <= to && stop >= from
	}
	for _, fault := range r.Record.Faults {
		if start, stop, is := within(fault.Begin, fault.End); is {
			all = append(all, porcupine.Annotation{
				Tag: "fault", Start: start, End: stop, Description: string(fault.Kind) + " " + fault.Victim, BackgroundColor: "#ffb3a7",
			})
		}
	}
	for _, sale := range r.Record.Sales {
		start, stop, is := within(sale.Start, sale.End)
		if is && !sale.sold() && len(all) < 2*pictureSize {
			all = append(all, porcupine.Annotation{
				Tag: "no 200, buyer " + strconv.Itoa(sale.Buyer), Start: start, End: stop, Description: sale.Code, Details: sale.OrderID,
			})
		}
	}
	return all
}

func (w Window) title() string {
	if w.Legal {
		return "A part of the history that fits into one order: " + w.Why
	}
	return "A part of the history that does not fit into one order: " + w.Why
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
