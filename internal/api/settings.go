package api

import (
	"errors"
	"fmt"
	"net/http"

	"lockstep/internal/service/history"
)

// The bounds of what a page may set: a sale that takes longer would hold up everybody who wants to end or change the run.
const (
	leastTTL   = 10
	mostTTL    = 600_000
	mostThink  = 60_000
	mostNested = 10
)

// Settings is what GET /settings gives: what the sales of the run are made with.
type Settings struct {
	history.Tuning

	Wait int64 `json:"wait_ms"`
}

// SettingsOf tells the settings.
func SettingsOf(s history.Settings) Settings {
	return Settings{Tuning: s.Tuning(), Wait: s.WaitTimeout.Milliseconds()}
}

func (a *API) settings(r *http.Request) (any, error) {
	s, err := a.Shop.SettingsInForce(r.Context())
	return SettingsOf(s), err
}

// putSettings starts a new run with these settings, in every replica. What is not given stays.
func (a *API) putSettings(r *http.Request) (any, error) {
	var body struct {
		TTL    *int64 `json:"ttl_ms"`
		Think  *int64 `json:"think_ms"`
		Nested *int   `json:"nested"`
	}
	err := Read(r, &body)
	switch {
	case err != nil:
	case body.TTL == nil && body.Think == nil && body.Nested == nil:
		err = errors.New("ttl_ms, think_ms and nested are missing")
	case body.TTL != nil && (*body.TTL < leastTTL || *body.TTL > mostTTL):
		err = fmt.Errorf("ttl_ms: %d is not allowed", *body.TTL)
	case body.Think != nil && (*body.Think < 0 || *body.Think > mostThink):
		err = fmt.Errorf("think_ms: %d is not allowed", *body.Think)
	case body.Nested != nil && (*body.Nested < 0 || *body.Nested > mostNested):
		err = fmt.Errorf("nested: %d is not allowed", *body.Nested)
	}
	if err != nil {
		return nil, BadRequest(err, fmt.Sprintf(
			`want {"ttl_ms":3000,"think_ms":5000,"nested":0}: ttl_ms from %d to %d, think_ms up to %d, nested up to %d`,
			leastTTL, mostTTL, mostThink, mostNested))
	}
	s, err := a.Shop.SettingsInForce(r.Context())
	if err != nil {
		return nil, err
	}
	now := s.Tuning()
	tuning := history.Tuning{
		TTL: given(body.TTL, now.TTL), Think: given(body.Think, now.Think), Nested: given(body.Nested, now.Nested),
	}
	return SettingsOf(s.Tuned(tuning)), a.Shop.Tune(r.Context(), tuning)
}

// given returns a value, or what it is now if none was given.
func given[T any](value *T, now T) T {
	if value == nil {
		return now
	}
	return *value
}
