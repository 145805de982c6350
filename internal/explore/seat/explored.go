package seat

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"lockstep/internal/explore"
	"lockstep/internal/explore/report"
)

// Explored is what an exploration found, and the address of each schedule that shows something.
type Explored struct {
	report.Outcome

	Links []string `json:"links"`
}

// far is the event that says how far an exploration of every schedule has come.
type far struct {
	Schedules int  `json:"schedules"`
	States    int  `json:"states"`
	Depth     int  `json:"depth"`   // steps of the longest schedule
	Waiting   bool `json:"waiting"` // for its turn
}

// explore explores a lock in a scenario, as lockstep explore does.
func (s *Seat) explore(w http.ResponseWriter, r *http.Request) error {
	request, err := requestOf(r.URL.Query())
	if err != nil {
		return err
	}
	request.Bounds = s.limits.Explore
	return s.stream(w, r, func(stream *events) error {
		end, err := stream.ticket.begin(r.Context(), func() { stream.send("progress", far{Waiting: true}) })
		if err != nil {
			return err
		}
		defer end()
		explored, err := exploreAndStream(r.Context(), request, stream)
		if err == nil {
			stream.send("done", explored)
		}
		return err
	})
}

// exploreAndStream explores, and tells meanwhile how far it is.
func exploreAndStream(ctx context.Context, request report.Request, stream *events) (e Explored, err error) {
	var now atomic.Pointer[far]
	now.Store(&far{})
	request.Progress = func(r explore.Result) { now.Store(&far{Schedules: r.Schedules, States: r.States, Depth: r.Depth}) }
	stop := every(time.Second/4, func() { stream.send("progress", now.Load()) })
	defer stop()
	defer explore.CollectRarely(request.Bounds)() // nobody else explores now
	if e.Outcome, err = request.Outcome(ctx); err == nil && ctx.Err() != nil {
		err = ErrLeft // what it says of itself is of no use to others
	}
	e.Links = []string{}
	for i, shown := range e.Shown {
		link := Link(request.Lock.Name, e.Scenario, shown.Trace.Schedule(), Code(shown.Trace))
		e.Links = append(e.Links, link+"&anomaly="+string(e.Document.Counterexamples[i].Anomaly))
	}
	return e, err
}

// requestOf reads what is to be explored.
func requestOf(query url.Values) (request report.Request, err error) {
	p, err := placeOf(query)
	if err != nil {
		return request, err
	}
	request = report.Request{Lock: p.strategy, Scenario: p.scenario, Command: "lockstep explore"}
	if request.Each, err = flagOf(query, "each"); err != nil {
		return request, err
	}
	if request.Why, err = flagOf(query, "why"); err != nil {
		return request, err
	}
	if query.Get("anomaly") == "" {
		return request, nil
	}
	byName := slices.DeleteFunc(explore.Anomalies(), func(a explore.Anomaly) bool { return !a.ByName() })
	request.Anomaly, err = anomalyOf(query, p.strategy, byName...)
	switch {
	case err != nil:
		return request, err
	case request.Each:
		return request, fmt.Errorf("%w: each looks for all anomalies: leave out anomaly", ErrTogether)
	case request.Why && request.Anomaly.ByName():
		return request, fmt.Errorf("%w: why: it knows no way without %s, of which no lock promises to be free", ErrTogether, request.Anomaly)
	}
	return request, nil
}

// flagOf reads whether something is asked for.
func flagOf(query url.Values, name string) (is bool, err error) {
	if text := query.Get(name); text != "" {
		if is, err = strconv.ParseBool(text); err != nil {
			return false, fmt.Errorf("%w: %s: %q; it takes true or false", ErrQuery, name, text)
		}
	}
	return is, nil
}
