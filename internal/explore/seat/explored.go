package seat

import (
	"context"
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

// far says how far an exploration of every schedule has come.
type far struct {
	Schedules int  `json:"schedules"`
	States    int  `json:"states"`
	Depth     int  `json:"depth"`   // steps of the longest schedule
	Waiting   bool `json:"waiting"` // for its turn
}

// Explore explores a lock in a scenario, as lockstep explore does, and tells meanwhile how far it is.
func (s *Seat) Explore(ctx context.Context, t *Ticket, request report.Request, tell Tell) (e Explored, err error) {
	request.Bounds = s.limits.Explore
	end, err := t.begin(ctx, func() { tell("progress", far{Waiting: true}) })
	if err != nil {
		return e, err
	}
	defer end()
	var now atomic.Pointer[far]
	now.Store(&far{})
	request.Progress = func(r explore.Result) { now.Store(&far{Schedules: r.Schedules, States: r.States, Depth: r.Depth}) }
	stop := every(time.Second/4, func() { tell("progress", now.Load()) })
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
