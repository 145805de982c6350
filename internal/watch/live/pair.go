package live

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/shop/answer"
	"lockstep/internal/shop/api"
	"lockstep/internal/trace"
	"lockstep/internal/watch/witness"
)

// mostDrawn is how many events a drawing of two sales is made of.
const mostDrawn = 3000

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
	drawn, err := h.pair(in, a, b)
	if err == nil {
		answer.Write(w, http.StatusOK, drawn)
	}
	return err
}

func (h *Hub) pair(in language.Language, a, b string) (trace.Trace, error) {
	events, called, err := h.since(a, b)
	if err != nil {
		return trace.Trace{}, err
	}
	a, b = called.sale(a), called.sale(b)
	return called.trace(witness.Examine(around(events, a, b)).Trace(in, a, b)), nil
}

// since gives all events from when the first of two sales asked for the lock, and how those that they name are called. A replica that was
// started again has new sales of old names.
func (h *Hub) since(sales ...string) (events []witness.Event, called *names, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var from time.Time
	for _, name := range sales {
		var sale *witness.Sale
		if h.scene != nil {
			events, called = h.scene.account.Events, h.scene.names
			sale = h.scene.account.Sale(called.sale(name))
		}
		if sale == nil || sale.Asked.IsZero() || sale.Asked.Before(events[0].Replied) {
			return nil, nil, fmt.Errorf("%q: %w", name, errNoSale)
		}
		from = witness.Earlier(from, sale.Asked)
	}
	first := slices.IndexFunc(events, func(e witness.Event) bool { return !e.Replied.Before(from) })
	return slices.Clip(events[first:]), called.known(), nil // the account only appends to it
}

// around gives the events that a drawing of two sales is made of: all up to the last of theirs; if these are too many, their own, and those
// that took the lock, or ended it.
func around(events []witness.Event, a, b string) []witness.Event {
	last := 0
	for i, e := range events {
		if e.Sale == a || e.Sale == b {
			last = i
		}
	}
	those := slices.Clone(events[:last+1])
	if len(those) <= mostDrawn {
		return those
	}
	those = slices.DeleteFunc(those, func(e witness.Event) bool {
		own := e.Sale == a || e.Sale == b || e.Sale == ""
		changes := e.Command != nil && e.Command.Outcome != witness.Refused && e.Command.Verb != witness.Reads
		return !own && !changes
	})
	return those[:min(len(those), mostDrawn)]
}
