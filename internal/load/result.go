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

// Result is the report of a run, with statistics on the answers to the buyers. Judge may change the report's verdict.
type Result struct {
	history.Report
	Unread    string         `json:"unread,omitempty"`   // reason why the ledger could not be read; Report then has only the start of the run
	Reason    string         `json:"reason"`             // explanation of the verdict
	Requests  int            `json:"requests"`           // number of requests
	OK        int            `json:"ok"`                 // requests that bought a piece
	SoldOut   int            `json:"sold_out"`           // requests with the answer that the stock is sold out
	Failed    int            `json:"failed"`             // requests that certainly sold nothing, for another reason
	Unknown   int            `json:"unknown"`            // requests of unknown outcome
	Retried   int            `json:"retried,omitempty"`  // requests that were sent again, because their outcome was unknown
	Replayed  int            `json:"replayed,omitempty"` // retried requests that had already bought
	Gone      int            `json:"gone,omitempty"`     // confirmed orders that were looked up, and are not in the ledger
	Answered  float64        `json:"answered"`           // share of the requests that bought or found the stock sold out, from 0 to 1
	Failures  map[string]int `json:"failures,omitempty"` // error code, or the client's reason → number of failed requests
	Unknowns  map[string]int `json:"unknowns,omitempty"` // error code, or the client's reason → number of requests of unknown outcome
	Seconds   float64        `json:"seconds"`            // duration of the burst
	PerSecond float64        `json:"per_second"`         // OK per second
	Latency   Latency        `json:"latency_ms"`

	reasons language.Text // Reason in each language
}

// Latency has percentiles of the times until an answer, in milliseconds.
type Latency struct {
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// newResult counts attempts by their outcomes.
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

// maxCodes bounds the number of different codes that are counted. lockstep has fewer; another program may make up any number.
const maxCodes = 40

// countCode counts a code. New codes beyond maxCodes are counted together.
func countCode(codes map[string]int, code string) {
	if _, ok := codes[code]; !ok && len(codes) >= maxCodes {
		code = "other codes"
	}
	codes[code]++
}

// percentile returns the p-th percentile of sorted durations in milliseconds, by the nearest rank; 0 if there are none.
func percentile(sorted []time.Duration, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := (len(sorted)*p + 99) / 100
	return float64(sorted[max(rank, 1)-1].Microseconds()) / 1000
}

// Missing returns a lower bound for the number of confirmed orders that the ledger lacks. It is negative if the ledger has more orders than
// were confirmed.
func (r Result) Missing() int64 {
	if r.Gone > 0 {
		return int64(r.Gone)
	}
	return int64(r.OK) - r.Sold
}

// KnowsLost reports whether the number of lost updates is known. Orders that are missing from the ledger can hide lost updates. So a number
// above zero is real even then, but no other can be trusted.
func (r Result) KnowsLost() bool {
	return r.Unread == "" && (r.Missing() <= 0 || r.Verdict == verdict.Oversold)
}

// Judge sets the verdict and its reason. PASS becomes UNKNOWN if the share of answered requests is below minAnswered (from 0 to 1). Every
// verdict but OVERSOLD becomes UNKNOWN if confirmed orders are missing from the ledger, which then cannot be trusted.
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

// missingTexts returns a clause about the orders that the ledger lacks, in both languages.
func (r Result) missingTexts() (english, chinese string) {
	return fmt.Sprintf("%d orders that were confirmed to buyers are not in the ledger", r.Missing()),
		fmt.Sprintf("买家收到了 %d 个订单的确认，账本里却没有这些订单", r.Missing())
}

// explain returns the explanation of the report's verdict, with caveats if orders are missing or requests failed.
func (r Result) explain() language.Text {
	explanation := r.Explanation()
	english, chinese := explanation.In(language.English), explanation.In(language.Chinese)
	if r.Missing() > 0 {
		missingEnglish, missingChinese := r.missingTexts()
		english += "; but " + missingEnglish
		chinese += "；但" + missingChinese
	}
	if rest := r.Failed + r.Unknown; rest > 0 {
		english += fmt.Sprintf("; but %d of %d requests failed, or their outcome is unknown", rest, r.Requests)
		chinese += fmt.Sprintf("；但 %d 个请求中有 %d 个失败或结果未知", r.Requests, rest)
	}
	return language.Both(english, chinese)
}

// Sentence returns the reason of the verdict in a language.
func (r Result) Sentence(in language.Language) string { return r.reasons.In(in) }

// setUnread records that the ledger could not be read, and keeps only what was known at the start of the run.
func (r *Result) setUnread(started history.Report, err error) {
	r.Report = history.Report{RunID: started.RunID, Lock: started.Lock, Initial: started.Initial, Verdict: verdict.Untested}
	r.Unread = err.Error()
}

// MarshalJSON omits the fields that come from the ledger if it could not be read.
func (r Result) MarshalJSON() ([]byte, error) {
	type plain Result
	if r.Unread == "" {
		return json.Marshal(plain(r))
	}
	return json.Marshal(struct {
		plain

		Remaining   any `json:"remaining,omitempty"` // always nil: this and the next fields hide those of Report
		Sold        any `json:"sold,omitempty"`
		Oversold    any `json:"oversold,omitempty"`
		Lost        any `json:"lost,omitempty"`
		InFlight    any `json:"in_flight,omitempty"`
		MaxInFlight any `json:"max_in_flight,omitempty"`
	}{plain: plain(r)})
}
