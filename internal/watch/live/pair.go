package live

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"lockstep/internal/explore/trace"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/shop/api"
	"lockstep/internal/watch/witness"
)

// mostDrawn is how many events a drawing of two sales is made of.
const mostDrawn = 3000

var (
	errPair   = lock.WithCode("bad_request", "want two sales of the run that is shown, such as ?a=r1%232&b=r2%235")
	errNoSale = lock.WithCode("no_sale", "nothing is known of this sale any more, or yet")
)

// answerPair answers GET /live/pair?a=r1%232&b=r2%235: what two sales did, as a trace. It knows what is shown to those who watch.
func (h *Hub) answerPair(w http.ResponseWriter, r *http.Request) error {
	in, err := languageOf(r)
	a, b := r.URL.Query().Get("a"), r.URL.Query().Get("b")
	switch {
	case err != nil:
		return err
	case a == "" || b == "" || a == b:
		return errPair
	}
	drawn, err := h.pair(in, a, b)
	if err == nil {
		api.Write(w, http.StatusOK, drawn)
	}
	return err
}

func (h *Hub) pair(in language.Language, a, b string) (trace.Trace, error) {
	h.mu.Lock()
	var events []witness.Event
	if h.scene != nil {
		events = slices.Clip(h.scene.account.Events) // the account only appends to it
	}
	h.mu.Unlock()
	from, err := begin(events, a, b)
	if err != nil {
		return trace.Trace{}, err
	}
	return witness.Examine(around(events, from, a, b)).Trace(in, a, b), nil
}

// begin gives the time when the first of two sales asked for the lock last: a replica that was started again has new sales of old names.
func begin(events []witness.Event, sales ...string) (from time.Time, err error) {
	for _, name := range sales {
		asked := time.Time{}
		for i := len(events) - 1; i >= 0; i-- {
			if e := events[i]; e.Sale == name && e.Kind == witness.KindAsks && e.Run != "" {
				asked = e.Replied
				break
			}
		}
		if asked.IsZero() {
			return from, fmt.Errorf("%q: %w", name, errNoSale)
		}
		from = witness.Earlier(from, asked)
	}
	return from, nil
}

// around gives the events that a drawing of two sales is made of: all from the first to the last of theirs; if these are too many, their
// own, and those that took the lock, or ended it.
func around(events []witness.Event, from time.Time, a, b string) []witness.Event {
	first := slices.IndexFunc(events, func(e witness.Event) bool { return !e.Replied.Before(from) })
	last := first
	for i := first; i < len(events); i++ {
		if events[i].Sale == a || events[i].Sale == b {
			last = i
		}
	}
	those := slices.Clone(events[first : last+1])
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
