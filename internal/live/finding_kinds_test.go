package live

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"lockstep/internal/api/route"
	"lockstep/internal/explore/seat"
	"lockstep/internal/language"
	"lockstep/internal/witness"
)

// Each fault leads to an exploration at the scheduler's seat that shows it with the same lock: a hint there finds a path.
func TestExplorationsReachAnomaly(t *testing.T) {
	seatRoutes := route.Mux(seat.New(seat.DefaultLimits(), nil).Routes()...)
	for lock, shown := range map[string][]witness.FindingKind{
		"v0":  {witness.Overlapped, witness.LostUpdate},
		"v1":  {witness.LeftBehind, witness.WaitedInVain, witness.WaitsForItself},
		"v2":  {witness.RemovedLock, witness.ExpiredAtWork, witness.Overlapped, witness.LostUpdate, witness.WroteLate},
		"v3":  {witness.RemovedLock},
		"v4":  {witness.WaitsForItself},
		"v5":  {witness.Overlapped, witness.LostUpdate, witness.WroteLate},
		"v6":  {witness.ExpiredAtWork, witness.Overlapped, witness.LostUpdate, witness.WroteLate, witness.RedisLostLock},
		"v7":  {witness.ExpiredAtWork, witness.Overlapped, witness.RefusedToken},
		"v10": {witness.Overlapped, witness.RedisLostLock}, "getset": {witness.OverwroteLock}, "setex": {witness.OverwroteLock},
	} {
		all := findingKinds(lock, language.English)
		for _, kind := range shown {
			in := all[string(kind)].Exploration
			if in == nil {
				t.Errorf("%s under %s: no exploration shows it", kind, lock)
				continue
			}
			if steps := hintSteps(t, seatRoutes, lock, *in); steps <= 0 {
				t.Errorf("%s under %s: %+v is %d steps away", kind, lock, *in, steps)
			}
		}
	}
}

// hintSteps returns in how many steps the seat reaches the exploration's anomaly with a lock.
func hintSteps(t *testing.T, seatRoutes http.Handler, lock string, shown Exploration) int {
	t.Helper()
	query := url.Values{"lock": {lock}, "in": {shown.Flags}, "anomaly": {string(shown.Anomaly)}}.Encode()
	w := httptest.NewRecorder()
	seatRoutes.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/seat/hint?"+query, nil))
	var hint struct{ Steps int }
	if err := json.Unmarshal(w.Body.Bytes(), &hint); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%d, %v: %s", w.Code, err, w.Body)
	}
	return hint.Steps
}

func TestEveryFindingKindHasTitle(t *testing.T) {
	all := findingKinds("v2", language.Chinese)
	if removed := all[string(witness.RemovedLock)]; removed.Title != "误删别人的锁" || removed.Exploration.Flags != "--actors 2 --faults expiry=1" {
		t.Errorf("a foreign delete under v2 is %+v", removed)
	}
	for kind, info := range all {
		if info.Title == "" || info.Exploration != nil && info.Exploration.Anomaly == "" {
			t.Errorf("%s is %+v; want a title, and an anomaly where an exploration shows it", kind, info)
		}
	}
}

// A lane ends with the code that the buyer was answered.
func TestLaneEndsWithAnswerCode(t *testing.T) {
	now := time.Now()
	for want, sale := range map[string]*witness.Sale{
		"":                      {},
		"died":                  {EndedAt: now, Died: true},
		"sold":                  {EndedAt: now},
		"sold_out":              {EndedAt: now, Error: "no more", Code: "sold_out"},
		"redis_unavailable":     {EndedAt: now, Error: "GET: OOM", Code: "redis_refused"},
		"client_closed_request": {EndedAt: now, Error: "context canceled", Code: "cancelled"},
		"internal":              {EndedAt: now, Error: "sold out"},
	} {
		if got := laneEnd(sale); got != want {
			t.Errorf("%+v ends with %q; want %q", sale, got, want)
		}
	}
}
