package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/api/answer"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/witness"
)

// mostDrawn is how many events a drawing of two sales is made of.
const maxDrawnEvents = 3000

var (
	errPair   = lock.WithCode("bad_request", "want two sales of the run that is shown, such as ?a=A&b=B")
	errNoSale = lock.WithCode("no_sale", "nothing is known of this sale any more, or yet")
)

// answerPair answers GET /live/pair?a=A&b=B: what two sales did, as a trace. It knows what is shown to those who watch.
func (h *Hub) answerPair(w http.ResponseWriter, r *http.Request) error {
	in, err := api.Language(r)
	a, b := r.URL.Query().Get("a"), r.URL.Query().Get("b")
	switch {
	case err != nil:
		return err
	case a == "" || b == "" || a == b:
		return errPair
	}
	drawn, err := h.draw(r.Context(), in, a, b)
	if err == nil {
		answer.Write(w, http.StatusOK, drawn)
	}
	return err
}

// draw draws two sales: one pair at a time, since each takes much memory, and the buyers need the processor, too.
func (h *Hub) draw(ctx context.Context, in language.Language, a, b string) (json.RawMessage, error) {
	h.drawingPair.Lock()
	defer h.drawingPair.Unlock()
	if ctx.Err() != nil { // the reader has left meanwhile
		return nil, fmt.Errorf("%w: %w", lock.ErrCancelled, ctx.Err())
	}
	events, sales, err := h.eventsSince(a, b)
	if err != nil {
		return nil, err
	}
	return mustMarshal(witness.Examine(eventsAround(events, sales[0], sales[1])).Trace(in, sales...)), nil
}

// since gives all events from when the first of some sales asked for the lock, and the sales' names.
func (h *Hub) eventsSince(letters ...string) (events []witness.Event, sales []string, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var from time.Time
	for _, letter := range letters {
		var sale *witness.Sale
		if h.scene != nil {
			events, sale = h.scene.account.Events, h.scene.saleOf(letter)
		}
		if sale == nil || sale.AskedAt.IsZero() || sale.AskedAt.Before(events[0].Replied) {
			return nil, nil, fmt.Errorf("%q: %w", letter, errNoSale)
		}
		from, sales = witness.Earlier(from, sale.AskedAt), append(sales, sale.Name)
	}
	first := slices.IndexFunc(events, func(e witness.Event) bool { return !e.Replied.Before(from) })
	return slices.Clip(events[first:]), sales, nil // the account only appends to it
}

// saleOf gives the sale of a letter, or of its own name; nil if it is not remembered.
func (s *scene) saleOf(letter string) *witness.Sale {
	for _, one := range slices.Backward(s.account.Sales) {
		if strings.HasSuffix(one.Name, "#"+letter) {
			return one
		}
	}
	return s.account.Sale(s.names.name(letter))
}

// around gives the events that a drawing of two sales is made of: all up to the last of theirs; if these are too many, their own, and those
// that took the lock, or ended it.
func eventsAround(events []witness.Event, a, b string) []witness.Event {
	last := 0
	for i, e := range events {
		if e.Sale == a || e.Sale == b {
			last = i
		}
	}
	those := slices.Clone(events[:last+1])
	if len(those) <= maxDrawnEvents {
		return those
	}
	those = slices.DeleteFunc(those, func(e witness.Event) bool {
		own := e.Sale == a || e.Sale == b || e.Sale == ""
		changes := e.Command != nil && e.Command.Outcome != witness.Refused && e.Command.Verb != witness.Reads
		return !own && !changes
	})
	return those[:min(len(those), maxDrawnEvents)]
}
