package crew

import (
	"slices"
	"time"
)

// Report is what a crew's workers did. A stretch begins with Begin and ends before End.
type Report struct {
	Sold     int   `json:"sold"`     // from the first sale to the last: what the stock must have fallen by
	Sales    int   `json:"sales"`    // that ended within the stretch
	Requests int64 `json:"requests"` // sent within the stretch, on all connections

	// Waits are those that ended within the stretch, in microseconds, and for each worker that never got in the wait it had so far.
	Waits []int64 `json:"waits_us"`
	// Never is how many workers did not get in within the stretch, though they asked before its end.
	Never int `json:"never"`
	// Waiting is the longest wait that was still on at the end, in microseconds.
	Waiting int64 `json:"waiting_us"`
	// Silence is how long before the end the last sale was, in microseconds; the whole stretch if there was none.
	Silence int64 `json:"silence_us"`

	Errors     int    `json:"errors"` // of sales
	FirstError string `json:"first_error,omitempty"`
}

// tally makes the report of workers that have ended.
func tally(workers []worker, stretch Stretch) Report {
	r := Report{Waits: []int64{}}
	last := stretch.Begin
	for _, w := range workers {
		never, waiting := true, time.Duration(0)
		for _, t := range w.turns {
			if t.sold {
				r.Sold++
			}
			if t.sold && stretch.has(t.ended) {
				r.Sales++
				last = later(last, t.ended)
			}
			switch {
			case stretch.has(t.entered):
				r.Waits = append(r.Waits, t.entered.Sub(t.asked).Microseconds())
				never = false
			case t.asked.Before(stretch.End) && (t.entered.IsZero() || !t.entered.Before(stretch.End)):
				waiting = max(waiting, earlier(t.ended, stretch.End).Sub(t.asked))
			}
		}
		if never && waiting > 0 {
			r.Never++
			r.Waits = append(r.Waits, waiting.Microseconds())
		}
		r.Waiting = max(r.Waiting, waiting.Microseconds())
		if r.Errors += len(w.errs); r.FirstError == "" && len(w.errs) > 0 {
			r.FirstError = w.errs[0].Error()
		}
	}
	r.Silence = stretch.End.Sub(last).Microseconds()
	return r
}

func (s Stretch) has(t time.Time) bool { return !t.Before(s.Begin) && t.Before(s.End) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// median is the middle of some durations, which it sorts.
func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
