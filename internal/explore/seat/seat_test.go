package seat_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"lockstep/internal/anomaly"
	"lockstep/internal/api/answer"
	"lockstep/internal/api/route"
	"lockstep/internal/evolution"
	"lockstep/internal/explore"
	"lockstep/internal/explore/seat"
	"lockstep/internal/explore/session"
	"lockstep/internal/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// servedSeat is a seat with its routes.
type servedSeat struct {
	*seat.Seat
	*http.ServeMux
}

func open(t testing.TB, limits seat.Limits) servedSeat {
	t.Helper()
	s := seat.New(limits, nil)
	return servedSeat{s, route.Mux(s.Routes()...)}
}

// limitsWithoutTable returns limits for a seat that has no table at the start.
func limitsWithoutTable() seat.Limits {
	limits := seat.DefaultLimits()
	limits.Table = nil
	return limits
}

// ask requests a path with query parameters.
func ask(t testing.TB, s http.Handler, path string, pairs ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path+"?"+query(pairs...), nil))
	return w
}

// get requests a path and decodes the JSON document.
func get[T any](t testing.TB, s http.Handler, path string, pairs ...string) (document T) {
	t.Helper()
	w := ask(t, s, path, pairs...)
	if err := json.Unmarshal(w.Body.Bytes(), &document); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s %v: %d, %v: %s", path, pairs, w.Code, err, w.Body)
	}
	return document
}

func TestIndexListsAllLocksFaultsAnomalies(t *testing.T) {
	index := get[seat.Index](t, open(t, limitsWithoutTable()), "/seat", "lang", "zh")
	var names []string
	for _, lock := range index.Locks {
		names = append(names, lock.Name)
	}
	if !slices.Equal(names, evolution.Names()) || len(index.Faults) != len(explore.AllFaults()) ||
		len(index.Anomalies) != len(explore.Anomalies()) {
		t.Errorf("%+v", index)
	}
}

// positions returns positions for tests: a lock, a scenario, and a schedule that shows an anomaly in its last step, and not earlier.
func positions() []struct {
	lock, in, do string
	anomaly      explore.Anomaly
} {
	return []struct {
		lock, in, do string
		anomaly      explore.Anomaly
	}{
		{"v0", "", "A:GET B:GET A:write B:write", anomaly.LostUpdate},
		{"v2", "--faults expiry=1", "A:SET expiry B:SET", anomaly.TwoHolders},
		{"v4", "--nested 1", "A:SET A:GET A:SET B:SET", anomaly.SelfDeadlock},
		{"v5", "--faults expiry=1", "A:lock expiry B:lock", anomaly.TwoHolders},
	}
}

// A state equals that of a session in the terminal, its link leads back to it, and each of its choices is possible.
func TestStateEqualsSession(t *testing.T) {
	s := open(t, limitsWithoutTable())
	for _, at := range positions() {
		t.Run(at.lock, func(t *testing.T) {
			state := get[seat.State](t, s, "/seat/state", "lock", at.lock, "in", at.in, "do", at.do)
			want := sessionAt(t, at.lock, at.in, at.do).Now()
			if state.View.Schedule != at.do || state.View.Scenario != at.in || len(state.View.Steps) != len(want.Steps) ||
				!slices.Equal(state.View.Tokens(), want.Tokens()) || state.Stale != nil {
				t.Errorf("%+v; want %+v", state, want)
			}
			if last := state.View.Hits[len(state.View.Hits)-1]; last.Anomaly != at.anomaly || last.Step != len(strings.Fields(at.do)) {
				t.Errorf("it shows %+v; want %s in the last step", state.View.Hits, at.anomaly)
			}
			if again := follow(t, s, state.Link); again.View.Schedule != at.do || again.Code != state.Code || again.Stale != nil {
				t.Errorf("%s leads to %q, stale %v", state.Link, again.View.Schedule, again.Stale)
			}
		})
	}
}

func sessionAt(t *testing.T, lock, in, do string) *session.Session {
	t.Helper()
	strategy, err := evolution.Find(lock)
	if err != nil {
		t.Fatal(err)
	}
	scenario, err := explore.ParseScenario(in)
	if err != nil {
		t.Fatal(err)
	}
	session, err := session.New(strategy, scenario, do)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(session.Close)
	return session
}

// follow asks for the state that a link leads to.
func follow(t *testing.T, s http.Handler, link string) seat.State {
	t.Helper()
	path, rest, _ := strings.Cut(link, "?")
	q, err := url.ParseQuery(rest)
	if err != nil {
		t.Fatal(err)
	}
	return get[seat.State](t, s, "/seat/state",
		"lock", strings.TrimPrefix(path, "#/schedule/"), "in", q.Get("in"), "do", q.Get("do"), "code", q.Get("code"))
}

func TestLinkIsReadable(t *testing.T) {
	done := trace.Trace{Steps: []trace.Step{{Token: "A:SET"}, {Token: "A:write/lost"}, {Token: "expiry"}, {Token: "B:SET"}}}
	link := seat.Link("v2", "--faults expiry=1,crash=1", done)
	if want := "#/schedule/v2?in=--faults+expiry=1,crash=1&do=A:SET+A:write/lost+expiry+B:SET&code=" + seat.Code(done); link != want {
		t.Errorf("%s; want %s", link, want)
	}
	if link := seat.Link("v0", "", trace.Trace{}); link != "#/schedule/v0" {
		t.Error(link)
	}
}

// A schedule that does not fit is run as far as it fits. A code that does not match names the first step that differs.
func TestStaleLinkNamesStep(t *testing.T) {
	s := open(t, limitsWithoutTable())
	state := get[seat.State](t, s, "/seat/state", "lock", "v2", "do", "A:SET B:SET B:GET A:GET")
	if state.Stale == nil || state.Stale.Step != 3 || state.View.Schedule != "A:SET B:SET" || !strings.Contains(state.Stale.Says, "B:GET") {
		t.Errorf("%+v after %q; want step 3", state.Stale, state.View.Schedule)
	}
	made := get[seat.State](t, s, "/seat/state", "lock", "v1", "do", "A:SET A:GET B:SET")
	now := get[seat.State](t, s, "/seat/state", "lock", "v1", "do", "A:SET A:GET B:SET", "code", made.Code)
	other := get[seat.State](t, s, "/seat/state", "lock", "v3", "do", "A:SET A:GET B:SET", "code", made.Code)
	if now.Stale != nil || other.Stale == nil || other.Stale.Step != 1 || other.View.Schedule != "A:SET A:GET B:SET" {
		t.Errorf("%+v and %+v; want none and step 1", now.Stale, other.Stale)
	}
	later := made.Code[:len(made.Code)-1] + "~"
	if now := get[seat.State](t, s, "/seat/state", "lock", "v1", "do", "A:SET A:GET B:SET", "code", later); now.Stale == nil ||
		now.Stale.Step != 3 {
		t.Errorf("%+v; want step 3", now.Stale)
	}
}

// The error of an invalid request names the mistake and the values that are allowed.
func TestInvalidRequestsNameMistake(t *testing.T) {
	s := open(t, limitsWithoutTable())
	for _, test := range []struct {
		path   string
		pairs  []string
		status int
		says   []string
	}{
		{"/seat/state", []string{"lock", "v99"}, 400, []string{"v99", "v0, v1"}},
		{"/seat/state", []string{}, 400, []string{"there are v0"}},
		{"/seat/state", []string{"lock", "v2", "in", "--actors many"}, 400, []string{"many", "--actors 3 --faults expiry=1"}},
		{"/seat/state", []string{"lock", "v2", "in", "--colour red"}, 400, []string{"--colour", "--nested"}},
		{"/seat/state", []string{"lock", "v2", "in", "red"}, 400, []string{"red", "--nested"}},
		{"/seat/state", []string{"lock", "v2", "in", "--help"}, 400, []string{"--nested"}},
		{"/seat/state", []string{"lock", "v2", "in", "--faults fire=1"}, 400, []string{"fire", "expiry"}},
		{"/seat/state", []string{"lock", "v2", "in", "--actors 5"}, 400, []string{"actors", "4"}},
		{"/seat/state", []string{"lock", "v2", "in", "--actors 0"}, 400, []string{"actors: 0"}},
		{"/seat/state", []string{"lock", "v2", "in", "--faults expiry=9,crash=9223372036854775807"}, 400, []string{"faults", "9"}},
		{"/seat/state", []string{"lock", "v2", "in", "--nodes 3"}, 400, []string{"nodes"}},
		{"/seat/state", []string{"lock", "v2", "do", "A:"}, 400, []string{"step 1, A:"}},
		{"/seat/state", []string{"lock", "v2", "do", strings.Repeat("time ", 301)}, 400, []string{"301", "300"}},
		{"/seat/state", []string{"lock", "v2", "do", strings.Repeat("A", 10_001)}, 400, []string{"do: it has 10001 bytes", "10000"}},
		{"/seat/beside", []string{"lock", "v2", "with", strings.Repeat("v", 10_001)}, 400, []string{"with: it has 10001 bytes", "10000"}},
		{"/seat/state", []string{"lock", "v2", "in", "--work 61s"}, 400, []string{"work: more than 1m0s"}},
		{"/seat/explore", []string{"lock", "v2", "in", "--skew 2h"}, 400, []string{"skew: more than 1m0s"}},
		{"/seat/file", []string{"lock", "v2", "in", "--freed-within 2h"}, 400, []string{"freed-within: more than 1m0s"}},
		{"/seat/state", []string{"lock", "v2", "lang", "fr"}, 400, []string{"fr", "en or zh"}},
		{"/seat/hint", []string{"lock", "v0", "anomaly", "two-holders"}, 400, []string{"two-holders", "lost-update"}},
		{"/seat/oracle", []string{"lock", "v2"}, 400, []string{"anomaly", "two-holders"}},
		{"/seat/oracle", []string{"lock", "v2", "anomaly", "stuck", "do", "B:GET"}, 409, []string{"step 1, B:GET"}},
		{"/seat/beside", []string{"lock", "v2", "with", "v33"}, 400, []string{"with", "v33"}},
		{"/seat/beside", []string{"lock", "redlock", "with", "local", "in", "--faults node-crash=1", "lang", "zh"}, 400,
			[]string{"local 跑不了这个时序"}},
		{"/seat/beside", []string{"lock", "v2", "with", "v3", "do", "B:GET"}, 409, []string{"step 1, B:GET"}},
		{"/seat/explore", []string{"lock", "v99"}, 400, []string{"v99", "v0, v1"}},
		{"/seat/explore", []string{"lock", "v2", "in", "--faults fire=1"}, 400, []string{"fire", "expiry"}},
		{"/seat/explore", []string{"lock", "v0", "anomaly", "two-holders"}, 400, []string{"two-holders", "lost-update", "starved"}},
		{"/seat/explore", []string{"lock", "v2", "anomaly", "stuck", "each", "true"}, 409, []string{"each", "leave out anomaly"}},
		{"/seat/explore", []string{"lock", "v2", "each", "maybe"}, 400, []string{"each", "maybe", "true or false"}},
		{"/seat/explore", []string{"lock", "v6", "anomaly", "starved", "why", "1"}, 409, []string{"why", "starved"}},
	} {
		w := ask(t, s, test.path, test.pairs...)
		var failure answer.Failure
		if err := json.Unmarshal(w.Body.Bytes(), &failure); err != nil || w.Code != test.status {
			t.Errorf("%s %v: %d, want %d: %s", test.path, test.pairs, w.Code, test.status, w.Body)
		}
		for _, says := range test.says {
			if !strings.Contains(failure.Error.Message, says) {
				t.Errorf("%s %v: %q is not in %q", test.path, test.pairs, says, failure.Error.Message)
			}
		}
	}
}

// A comparison with the next lock ends at the step that the next lock prevents.
func TestComparisonDiffersWhereNextLockHelps(t *testing.T) {
	both := get[seat.LinkedComparison](t, open(t, limitsWithoutTable()), "/seat/beside",
		"lock", "v2", "with", "v3", "in", "--faults expiry=1", "do", "A:SET A:GET A:write expiry B:SET A:DEL")
	if both.Locks != [2]string{"v2", "v3"} || both.FirstDifference != len(both.Rows) || len(both.Why) == 0 {
		t.Errorf("%+v", both)
	}
	for i, link := range both.Links {
		state := follow(t, open(t, limitsWithoutTable()), link)
		if state.Stale != nil || len(state.View.Steps) == 0 || state.View.Lock != both.Locks[i] {
			t.Errorf("%s: %+v", link, state.Stale)
		}
	}
}
