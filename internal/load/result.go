package load

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/service/history"
	"lockstep/internal/verdict"
)

// Result is the run's result, and what the buyers were answered. Its verdict is the run's, unless too few were answered; see Judge.
type Result struct {
	history.Report
	Unread    string         `json:"unread,omitempty"` // why the ledger could not be read; the report is then that of the run's beginning
	Reason    string         `json:"reason"`           // the verdict in words
	Requests  int            `json:"requests"`
	OK        int            `json:"ok"`
	SoldOut   int            `json:"sold_out"`
	Failed    int            `json:"failed"`             // nothing was sold
	Unknown   int            `json:"unknown"`            // the buyer was not told whether it was sold
	Retried   int            `json:"retried,omitempty"`  // requests that were sent again after a doubt
	Replayed  int            `json:"replayed,omitempty"` // of these, that had bought before
	Gone      int            `json:"gone,omitempty"`     // orders of sold requests that the ledger lacks, of those that were asked for
	Answered  float64        `json:"answered"`           // share of the requests that were sold or sold out, from 0 to 1
	Failures  map[string]int `json:"failures,omitempty"`
	Unknowns  map[string]int `json:"unknowns,omitempty"` // as failures: by error code, or by the client's reason
	Seconds   float64        `json:"seconds"`
	PerSecond float64        `json:"per_second"`
	Latency   Latency        `json:"latency_ms"`

	reasons language.Text // Reason, in each language
}

// Latency is how long the answers took, in milliseconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

func newResult(attempts []attempt, duration time.Duration) Result {
	r := Result{Requests: len(attempts), Seconds: duration.Seconds(), Failures: map[string]int{}, Unknowns: map[string]int{}}
	latencies := make([]time.Duration, 0, len(attempts))
	for _, a := range attempts {
		if a.duration > 0 {
			latencies = append(latencies, a.duration)
		}
		if a.retried {
			r.Retried++
		}
		if a.replayed {
			r.Replayed++
		}
		switch {
		case a.isSold():
			r.OK++
		case a.isSoldOut():
			r.SoldOut++
		case a.isUnknown():
			r.Unknown++
			countCode(r.Unknowns, a.code)
		default:
			r.Failed++
			countCode(r.Failures, a.code)
		}
	}
	slices.Sort(latencies)
	if r.Requests > 0 {
		r.Answered = float64(r.OK+r.SoldOut) / float64(r.Requests)
	}
	if r.Seconds > 0 {
		r.PerSecond = float64(r.OK) / r.Seconds
	}
	r.Latency = Latency{
		P50: percentile(latencies, 50), P90: percentile(latencies, 90),
		P99: percentile(latencies, 99), Max: percentile(latencies, 100),
	}
	return r
}

// maxCodes is how many different codes are counted: a shop has fewer.
const maxCodes = 40

// countCode counts a code, as long as there are not too many different ones.
func countCode(codes map[string]int, code string) {
	if _, ok := codes[code]; !ok && len(codes) >= maxCodes {
		code = "other codes"
	}
	codes[code]++
}

// percentile gives, in milliseconds, the smallest duration that at least p percent of the sorted ones do not exceed.
func percentile(sorted []time.Duration, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := (len(sorted)*p + 99) / 100
	return float64(sorted[max(rank, 1)-1].Microseconds()) / 1000
}

// Missing counts the orders of answered sales that the ledger lacks at least; below zero, how many more orders it has than sales were
// answered.
func (r Result) Missing() int64 {
	if r.Gone > 0 {
		return int64(r.Gone)
	}
	return int64(r.OK) - r.Sold
}

// KnowsLost reports whether the ledger says how many updates were lost. Orders that it lacks can only hide some: what it shows is true, but
// that nothing was lost, or that the stock fell by too much, is not.
func (r Result) KnowsLost() bool {
	return r.Unread == "" && (r.Missing() <= 0 || r.Verdict == verdict.Oversold)
}

// Judge returns the reason of the verdict. It turns PASS into UNKNOWN if the share of answered requests is below minAnswered (from 0 to 1),
// and all but OVERSOLD if an answered sale has no order: the ledger cannot be trusted then. OVERSOLD and UNDERSOLD stay, however few were
// answered.
func (r *Result) Judge(minAnswered float64) {
	tooFew := r.Verdict == verdict.Pass && r.Answered < minAnswered
	switch {
	case r.Unread != "":
		r.reasons = language.Both("the ledger could not be read: "+r.Unread, "读不到账本："+r.Unread)
	case !r.KnowsLost():
		r.reasons = language.Both(r.missingTexts())
	case tooFew:
		r.reasons = language.Both(
			fmt.Sprintf("only %d of %d requests were answered (sold, or sold out), which is less than %.4g %%",
				r.OK+r.SoldOut, r.Requests, 100*minAnswered),
			fmt.Sprintf("%d 个请求中，只有 %d 个得到了“买到”或“售罄”的响应，不到 %.4g %%", r.Requests, r.OK+r.SoldOut, 100*minAnswered))
	default:
		r.reasons = r.explain()
	}
	if !r.KnowsLost() || tooFew {
		r.Verdict = verdict.Untested
	}
	r.Reason = r.reasons.In(language.English)
}

// missingTexts says that the ledger lacks orders, in each language.
func (r Result) missingTexts() (english, chinese string) {
	return fmt.Sprintf("%d buyers were told that they bought, and the ledger has no orders of theirs", r.Missing()),
		fmt.Sprintf("%d 个买家被告知买到了，账本里却没有他们的订单", r.Missing())
}

// explain says what the report means, and what limits it.
func (r Result) explain() language.Text {
	means := r.Means()
	english, chinese := means.In(language.English), means.In(language.Chinese)
	if r.Missing() > 0 {
		in, zh := r.missingTexts()
		english, chinese = english+"; but "+in, chinese+"；但 "+zh
	}
	if rest := r.Failed + r.Unknown; rest > 0 {
		english += fmt.Sprintf("; but %d of %d requests were not answered, or not as they should be", rest, r.Requests)
		chinese += fmt.Sprintf("；但 %d 个请求中有 %d 个没有得到应有的响应", r.Requests, rest)
	}
	return language.Both(english, chinese)
}

// Sentence says in words why the verdict is what it is.
func (r Result) Sentence(in language.Language) string { return r.reasons.In(in) }

// setUnread says of a run, of which only the beginning is known, that its ledger could not be read.
func (r *Result) setUnread(started history.Report, err error) {
	r.Report = history.Report{RunID: started.RunID, Lock: started.Lock, Initial: started.Initial, Verdict: verdict.Untested}
	r.Unread = err.Error()
}

// MarshalJSON leaves out what only the ledger says, where it could not be read.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	if r.Unread == "" {
		return json.Marshal(plain(r))
	}
	return json.Marshal(struct {
		plain

		Remaining   any `json:"remaining,omitempty"` // these hide the report's
		Sold        any `json:"sold,omitempty"`
		Oversold    any `json:"oversold,omitempty"`
		Lost        any `json:"lost,omitempty"`
		InFlight    any `json:"in_flight,omitempty"`
		MaxInFlight any `json:"max_in_flight,omitempty"`
	}{plain: plain(r)})
}
