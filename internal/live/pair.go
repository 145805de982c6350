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

// maxDrawnEvents is the largest number of events in a diagram of two sales; with more it would be neither readable nor quick.
const maxDrawnEvents = 3000

// The errors of GET /live/pair: the query does not name two sales, or a sale is unknown.
var (
	errPair   = lock.WithCode("bad_request", "want two sales of the run that is shown, such as ?a=A&b=B")
	errNoSale = lock.WithCode("no_sale", "this sale is not known yet, or has been forgotten")
)

// answerPair handles GET /live/pair?a=A&b=B: it answers with a trace of what two sales of the current run did.
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

// draw returns the trace of two sales as JSON. It draws one pair at a time, because a drawing takes much memory, and buyers need processor
// time.
func (h *Hub) draw(ctx context.Context, in language.Language, a, b string) (json.RawMessage, error) {
	h.drawingPair.Lock()
	defer h.drawingPair.Unlock()
	if ctx.Err() != nil { // the client left while it waited
		return nil, fmt.Errorf("%w: %w", lock.ErrCancelled, ctx.Err())
	}
	events, sales, err := h.eventsSince(a, b)
	if err != nil {
		return nil, err
	}
	return mustMarshal(witness.Examine(eventsAround(events, sales[0], sales[1])).Trace(in, sales...)), nil
}

// eventsSince returns all events from the time at which the first of these sales asked for the lock, and the sales' names. It fails with
// errNoSale if a sale is unknown.
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
		from, sales = witness.EarlierOf(from, sale.AskedAt), append(sales, sale.Name)
	}
	first := slices.IndexFunc(events, func(e witness.Event) bool { return !e.Replied.Before(from) })
	return slices.Clip(events[first:]), sales, nil // The slice may be shared, because the account only appends to it.
}

// saleOf returns the sale with a letter, or with an original name; nil if the account has forgotten it.
func (s *scene) saleOf(letter string) *witness.Sale {
	for _, sale := range slices.Backward(s.account.Sales) {
		if strings.HasSuffix(sale.Name, "#"+letter) {
			return sale
		}
	}
	return s.account.Sale(s.names.name(letter))
}

// eventsAround returns the events for a diagram of two sales: all events up to the last event of the two. If there are too many, it returns
// only the sales' own events, events without a sale, and commands that may have changed the lock.
func eventsAround(events []witness.Event, a, b string) []witness.Event {
	last := 0
	for i, e := range events {
		if e.Sale == a || e.Sale == b {
			last = i
		}
	}
	drawn := slices.Clone(events[:last+1])
	if len(drawn) <= maxDrawnEvents {
		return drawn
	}
	drawn = slices.DeleteFunc(drawn, func(e witness.Event) bool {
		isOwn := e.Sale == a || e.Sale == b || e.Sale == ""
		mayChangeLock := e.Command != nil && e.Command.Outcome != witness.Refused && e.Command.Verb != witness.Reads
		return !isOwn && !mayChangeLock
	})
	return drawn[:min(len(drawn), maxDrawnEvents)]
}
