package worker

import (
	"slices"
	"time"
)

// Report describes what the buyers of a worker process did. A window includes its Begin, but not its End.
type Report struct {
	Sold          int   `json:"sold"`          // all sales, also outside the window, by which the stock must have fallen
	SalesInWindow int   `json:"sales"`         // sales that ended within the window
	Requests      int64 `json:"requests"`      // requests sent within the window, on all connections
	LockRequests  int64 `json:"lock_requests"` // requests of the lock sent within the window

	// Waits has the waits that ended within the window, in microseconds. A buyer that was never served counts with its wait so far.
	Waits []int64 `json:"waits_us"`
	// NeverServed is the number of buyers that requested the lock before the end of the window, and did not get it within the window.
	NeverServed int `json:"never"`
	// LongestPending is the longest wait still in progress at the end, in microseconds.
	LongestPending int64 `json:"waiting_us"`
	// Silence is the time from the last sale to the end of the window, in microseconds; the whole window if there was none.
	Silence int64 `json:"silence_us"`

	Errors     int    `json:"errors"` // number of failed sales
	FirstError string `json:"first_error,omitempty"`
}

// newReport returns the report of buyers that have ended.
func newReport(buyers []buyer, window Window) Report {
	r := Report{Waits: []int64{}}
	last := window.Begin
	for _, b := range buyers {
		never, waiting := true, time.Duration(0)
		for _, t := range b.purchases {
			if t.sold {
				r.Sold++
			}
			if t.sold && window.contains(t.ended) {
				r.SalesInWindow++
				last = later(last, t.ended)
			}
			switch {
			case window.contains(t.obtained):
				r.Waits = append(r.Waits, t.obtained.Sub(t.requested).Microseconds())
				never = false
			case window.isPending(t):
				waiting = max(waiting, earlier(t.ended, window.End).Sub(t.requested))
			}
		}
		if never && waiting > 0 {
			r.NeverServed++
			r.Waits = append(r.Waits, waiting.Microseconds())
		}
		r.LongestPending = max(r.LongestPending, waiting.Microseconds())
		if r.Errors += len(b.errs); r.FirstError == "" && len(b.errs) > 0 {
			r.FirstError = b.errs[0].Error()
		}
	}
	r.Silence = window.End.Sub(last).Microseconds()
	return r
}

// isPending reports whether a purchase was waiting for the lock at the end of the window.
func (w Window) isPending(t purchase) bool {
	return t.requested.Before(w.End) && (t.obtained.IsZero() || !t.obtained.Before(w.End))
}

func (w Window) contains(t time.Time) bool { return !t.Before(w.Begin) && t.Before(w.End) }

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

// median sorts durations, and returns the middle one.
func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
