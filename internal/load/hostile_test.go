package load_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/internal/language"
	"lockstep/internal/load"
	"lockstep/internal/service/history"
	"lockstep/internal/verdict"
)

// hostileText controls a terminal, and ends lines of its own.
const hostileText = "\x1b[31mPWN\x1b]0;T\a\r\nFAKE verdict PASS\u202e"

// isHarmless reports whether a text has no character that controls a terminal, except ends of lines.
func isHarmless(text string) bool {
	return !strings.ContainsAny(text, "\x1b\a\r\u202e") && !strings.Contains(text, "\nFAKE")
}

func marshal(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// respondEndlessly writes an endless body that begins as a receipt.
func respondEndlessly(w http.ResponseWriter, _ *http.Request) {
	for _, err := fmt.Fprint(w, strings.TrimSuffix(saleReceipt, "}")); err == nil; _, err = fmt.Fprint(w, strings.Repeat(" ", 1<<16)) {
		continue
	}
}

func TestAnswerThatIsNoSaleIsUnknown(t *testing.T) {
	s := &fakeShop{report: `{"run_id":"r","lock":"v4","verdict":"PASS","initial":100,"remaining":99,"sold":1,"max_in_flight":3}`}
	s.answers = []http.HandlerFunc{
		respond(200, saleReceipt), respond(200, "null"), respond(200, "{}"), respond(200, "["+saleReceipt+"]"),
		respond(200, saleReceipt+saleReceipt), respond(200, `{"order_id":7}`),
		respond(200, strings.Replace(saleReceipt, `"o-1"`, `"\u202e"`, 1)),
		respond(200, strings.Replace(saleReceipt, `"stock_after":1,`, ``, 1)), respondEndlessly,
		respond(204, ""), respond(202, saleReceipt), func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusSeeOther)
		},
		respond(409, "<html>"), respond(404, hostileText), respondError(503, "lock_timeout"),
	}
	r := runBurst(t, s)
	if r.OK != 1 || r.SoldOut != 0 || r.Unknown != 11 || r.Failed != 3 {
		t.Errorf("got %+v, want 1 sold, 11 unknown and 3 failed", r)
	}
	if r.Unknowns["200, but not a sale"] != 7 || r.Unknowns["no answer: the answer is longer than 1048576 bytes"] != 1 {
		t.Errorf("got %v, want 7 that are no sale and 1 that is too long", r.Unknowns)
	}
}

// No text of a server can control the terminal, and a report that contradicts itself is refused.
func TestPrintQuotesWhatServerSays(t *testing.T) {
	quoted := marshal(t, hostileText)
	const good = `{"run_id":"r","lock":"v4","initial":1,"remaining":0,"sold":1,"max_in_flight":2,"verdict":"PASS"}`
	for name, report := range map[string]string{
		"good":     good,
		"lock":     strings.Replace(good, `"v4"`, quoted, 1),
		"run":      strings.Replace(good, `"r"`, quoted, 1),
		"verdict":  strings.Replace(good, `"PASS"`, quoted, 1),
		"lies":     strings.Replace(good, `"remaining":0`, `"remaining":1`, 1),
		"null":     "null",
		"no JSON":  hostileText,
		"an array": "[" + good + "]",
	} {
		t.Run(name, func(t *testing.T) {
			s := &fakeShop{report: report}
			for range 60 {
				n := len(s.answers)
				s.answers = append(s.answers, respondError(503, fmt.Sprintf("code_%d", n)),
					respond(503, `{"error":{"code":`+quoted+`,"message":`+quoted+`}}`))
			}
			server := httptest.NewServer(s)
			result, err := load.Burst{
				Targets: []string{server.URL}, Requests: len(s.answers), Buyers: 8, Stock: 1, Timeout: time.Minute, Progress: func(int) {},
				LedgerTimeout: 1,
			}.Run(t.Context())
			server.Close()
			var output strings.Builder
			if err == nil {
				err = result.Print(&output, language.English)
			}
			if text := fmt.Sprint(err) + output.String(); !isHarmless(text) {
				t.Errorf("got %q, want no control characters", text)
			}
			if document := marshal(t, result); strings.Contains(document, "PWN") {
				t.Errorf("got %s, want no text of the server", document)
			}
			isCounted := len(result.Failures) <= 41 && result.Failures["not an error of lockstep"] == 60
			if isGood := name == "good"; isGood != (err == nil) || isGood && !isCounted {
				t.Errorf("got %v with failures %v, want an error for every report but the good one", err, result.Failures)
			}
		})
	}
}

// A server that is silent, or sends byte by byte, costs the time of one answer, however many requests are left.
func TestSilentServerCostsOneTimeout(t *testing.T) {
	drips := func(w http.ResponseWriter, r *http.Request) {
		for tick := time.NewTicker(20 * time.Millisecond); r.Context().Err() == nil; <-tick.C {
			_, _ = w.Write([]byte(" "))
			_ = http.NewResponseController(w).Flush()
		}
	}
	for name, answer := range map[string]http.HandlerFunc{"silent": neverRespond, "drips": drips} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &fakeShop{report: newRunReport}
			for range 1000 {
				s.answers = append(s.answers, answer)
			}
			server := httptest.NewServer(s)
			defer server.Close()
			const timeout = 200 * time.Millisecond
			result, err := load.Burst{
				Targets: []string{server.URL}, Requests: 1000, Buyers: 2, Stock: 1, Timeout: timeout, Progress: func(int) {}, MinAnswered: 0.99,
			}.Run(t.Context())
			if err != nil || result.Verdict != verdict.Untested || result.Unknown+result.Failed != 1000 || result.Unknown > 10 ||
				result.Failures["not sent: no buyer had an answer for 200ms"] != result.Failed {
				t.Errorf("got %v, %+v, want nearly all not sent", err, result)
			}
		})
	}
}

// A redirect is not followed, so that no token goes to another server. The error shows its target without passwords.
func TestRedirectIsNotFollowed(t *testing.T) {
	var requests atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other server got %s %s with token %q, want no request", r.Method, r.URL, r.Header.Get("Authorization"))
	}))
	defer other.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "u" || password != "PW" {
			t.Errorf("%s: got header %q, want user and password", r.URL, r.Header)
		}
		requests.Add(1)
		http.Redirect(w, r, strings.Replace(other.URL, "//", "//x:PW2@", 1)+r.URL.Path, http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	target := strings.Replace(server.URL, "//", "//u:PW@", 1)
	_, err := load.Burst{
		Targets: []string{target}, Requests: 1, Buyers: 1, Stock: 1, Timeout: time.Minute, Progress: func(int) {}, Lock: "v4",
	}.Run(t.Context())
	want := "the server refused PUT " + server.URL + "/lock: 307 redirect: to \"" + other.URL + "/lock\", which is not followed"
	if err == nil || err.Error() != want || requests.Load() != 1 {
		t.Errorf("got %v, want %s", err, want)
	}
	for _, err := range []error{load.Probe(t.Context(), target), load.Ready(t.Context(), target, time.Minute)} {
		if err == nil || strings.Contains(err.Error(), "PW") || !strings.Contains(err.Error(), other.URL) {
			t.Errorf("got %v, want the target of the redirect, and no password", err)
		}
	}
}

func TestFramesHaveNoInvisibleCharacters(t *testing.T) {
	server := startStream(t, `run {"fresh":true,"run_id":"new"}`, `finding {"says":`+marshal(t,
		hostileText)+`,"\u202e":[1e400,{"a":"b　c\n"}]}`,
		`tally `+strings.Replace(newRunReport, `"r"`, `"new"`, 1))
	watch, err := load.StartWatch(t.Context(), server.URL, "zh")
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Close()
	frames := marshal(t, watch.Frames(t.Context(), load.Result{Report: history.Report{RunID: "new"}}))
	if !strings.Contains(frames, "PWN") || !strings.Contains(frames, `{"a":"b　c\n"}`) ||
		strings.Contains(frames, `\u001b`) || !isHarmless(frames) {
		t.Errorf("got %s, want the text without invisible characters", frames)
	}
}
