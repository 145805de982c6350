package seat

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"lockstep/internal/api/answer"
	"lockstep/internal/api/sse"
	"lockstep/internal/explore"
	"lockstep/internal/explore/report"
	"lockstep/internal/explore/session"
)

// handleHint handles GET /seat/hint: it returns the next step of a shortest path from a position to an anomaly.
func (s *Seat) handleHint(r *http.Request) (hint session.Hint, err error) {
	p, from, err := s.openFittingSession(r, true)
	if err != nil {
		return hint, err
	}
	goal := hintKey(p.Lock.Name, p.Scenario.String(), p.Anomaly)
	isCached := func() (ok bool) {
		hint, ok = s.hints.Get(goal + from.Now().Schedule)
		return ok
	}
	waitCtx, cancel := s.withMaxWait(r.Context())
	defer cancel()
	err = s.explorations.run(waitCtx, s.client(r), isCached, noUpdate, func() (err error) {
		hint, err = session.ShortestPath(r.Context(), from, p.Anomaly, s.limits.Hint)
		if err == nil && hint.Steps > 0 {
			s.cacheShortestPath(goal, hint.Schedule, len(from.Path()))
		}
		return err
	})
	return hint, err
}

// hintKey returns the prefix of the keys in the cache of hints, made from the lock, the scenario and the anomaly.
func hintKey(lock, in string, a explore.Anomaly) string { return fmt.Sprintln(lock, in, a) }

// cacheShortestPath caches the hints along a shortest schedule to an anomaly. It skips the given number of first steps. From each state on
// a shortest path, the rest of the path is a shortest path, too, so a reader who follows a hint need not wait for the next one.
func (s *Seat) cacheShortestPath(goal, schedule string, first int) {
	steps := strings.Fields(schedule)
	for n := first; n < len(steps); n++ {
		s.hints.Add(goal+strings.Join(steps[:n], " "), session.Hint{Steps: len(steps) - n, Next: steps[n], Schedule: schedule})
	}
	s.hints.Add(goal+schedule, session.Hint{Schedule: schedule})
}

// sendEvent sends an event of an exploration in progress.
type sendEvent func(name string, value any)

// streamEvents answers with the events of an exploration. The last event is "done" with the result, or "failed" with the error. If the
// queue was full from the start, streamEvents sends nothing and returns ErrBusy.
func streamEvents(w http.ResponseWriter, explore func(sendEvent) (any, error)) error {
	events, hasSent := sse.NewWriter(w), false
	send := func(name string, value any) {
		hasSent = true
		_ = events.Send(name, value) // If the reader has left, the request's context ends.
	}
	result, err := explore(send)
	switch {
	case err == nil:
		send("done", result)
	case errors.Is(err, ErrBusy) && !hasSent:
		return err
	default:
		_, code := answer.StatusOf(err)
		send("failed", map[string]string{"code": code, "message": err.Error()})
	}
	return nil
}

// withProgress calls do. Four times a second it sends the latest progress that do has passed to update.
func withProgress[T any](send sendEvent, do func(update func(T))) {
	var last atomic.Pointer[T]
	last.Store(new(T))
	stop := repeat(time.Second/4, func() { send("progress", last.Load()) })
	defer stop()
	do(func(progress T) { last.Store(&progress) })
}

// handleOracle handles GET /seat/oracle: it streams progress, then the distances to an anomaly from a position and its neighbors.
func (s *Seat) handleOracle(w http.ResponseWriter, r *http.Request) error {
	p, from, err := s.openFittingSession(r, true)
	if err != nil {
		return err
	}
	return streamEvents(w, func(send sendEvent) (any, error) {
		distanceMap, err := s.distanceMap(r, p, send)
		if err != nil {
			return nil, err
		}
		var oracle session.Oracle
		err = s.run(r.Context(), s.client(r), func(context.Context) (err error) {
			oracle, err = distanceMap.Oracle(from, p.Anomaly)
			return err
		})
		return oracle, err
	})
}

// distanceMap returns the distance map of a session's scenario, cached or newly explored. For ten minutes it remembers scenarios that are
// too large, so that nobody waits for the same error again.
func (s *Seat) distanceMap(r *http.Request, p report.Request, send sendEvent) (drawn *session.DistanceMap, err error) {
	type progress struct {
		States  int  `json:"states"`
		Waiting bool `json:"waiting"` // the exploration waits for its turn
	}
	name := p.Lock.Name + " " + p.Scenario.String()
	// Not cached for longer, because the error is in one language, and because the bounds of time and memory may suffice later.
	tooLargeKey := fmt.Sprintln(name, p.Scenario.Language, time.Now().Truncate(10*time.Minute))
	var tooLarge error
	isCached := func() (ok bool) {
		if drawn, ok = s.maps.Get(name); !ok {
			tooLarge, ok = s.tooLarge.Get(tooLargeKey)
		}
		return ok
	}
	waiting := func() { send("progress", progress{Waiting: true}) }
	err = s.explorations.run(r.Context(), s.client(r), isCached, waiting, func() (err error) {
		defer explore.ReduceGC(s.limits.Map)() // No other exploration runs now.
		withProgress(send, func(update func(progress)) {
			drawn, err = session.NewDistanceMap(r.Context(), p.Lock, p.Scenario, s.limits.Map, func(n int) { update(progress{States: n}) })
		})
		switch {
		case err == nil:
			s.cacheMap(name, drawn)
		case errors.Is(err, session.ErrTooLarge):
			s.tooLarge.Add(tooLargeKey, err)
		}
		return err
	})
	return drawn, cmp.Or(err, tooLarge)
}

// cacheMap caches a map and evicts the least recently used ones beyond Limits.MapBytes, including the new map if that alone is larger.
func (s *Seat) cacheMap(name string, drawn *session.DistanceMap) {
	s.maps.Add(name, drawn)
	bytes := 0
	for _, m := range s.maps.Values() {
		bytes += m.Bytes()
	}
	for bytes > s.limits.MapBytes {
		_, oldest, _ := s.maps.RemoveOldest()
		bytes -= oldest.Bytes()
	}
}

// LinkedResult is the result of an exploration, with a link to each counterexample.
type LinkedResult struct {
	report.ExplorationResult

	Links []string `json:"links"` // link to each counterexample, see Link
}

// handleExplore handles GET /seat/explore: it streams progress, then the result of the exploration.
func (s *Seat) handleExplore(w http.ResponseWriter, r *http.Request) error {
	type progress struct {
		Schedules int  `json:"schedules"`
		States    int  `json:"states"`
		Depth     int  `json:"depth"`   // length of the longest schedule so far
		Waiting   bool `json:"waiting"` // the exploration waits for its turn
	}
	request, err := parseRequest(r.URL.Query())
	if err != nil {
		return err
	}
	table, err := strconv.ParseBool(cmp.Or(r.URL.Query().Get("table"), "false"))
	if err != nil {
		return fmt.Errorf("%w: table: %q; it takes true or false", errQuery, r.URL.Query().Get("table"))
	}
	request.Bounds = s.limits.Explore
	return streamEvents(w, func(send sendEvent) (any, error) {
		e := LinkedResult{Links: []string{}}
		waiting := func() { send("progress", progress{Waiting: true}) }
		err := s.explorations.run(r.Context(), s.client(r), notCached, waiting, func() (err error) {
			defer explore.ReduceGC(request.Bounds)() // No other exploration runs now.
			withProgress(send, func(update func(progress)) {
				request.Progress = func(r explore.Result) { update(progress{r.Schedules, r.States, r.Depth, false}) }
				if table {
					e.ExplorationResult, err = request.ProveAllScenarios(r.Context())
				} else {
					e.ExplorationResult, err = request.Result(r.Context())
				}
			})
			if err == nil && r.Context().Err() != nil {
				err = ErrLeft // An interrupted result is incomplete.
			}
			return err
		})
		for i, shown := range e.Counterexamples {
			link := Link(request.Lock.Name, e.Scenario, shown.Trace)
			e.Links = append(e.Links, link+"&anomaly="+string(e.Document.Counterexamples[i].Anomaly))
		}
		return e, err
	})
}
