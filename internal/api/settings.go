package api

import (
	"errors"
	"fmt"
	"net/http"

	"lockstep/internal/service/history"
)

// The bounds of what PUT /settings accepts. A longer sale would delay everyone who wants to end or change the run.
const (
	minTTLMillis   = 10
	maxTTLMillis   = 600_000
	maxThinkMillis = 60_000
	maxNested      = 10
)

// Settings is the body of GET /settings: the settings of the current run.
type Settings struct {
	history.Tuning

	Wait int64 `json:"wait_ms"` // longest wait for the lock, in ms
}

// SettingsOf converts settings to the body of GET /settings.
func SettingsOf(s history.Settings) Settings {
	return Settings{Tuning: s.Tuning(), Wait: s.WaitTimeout.Milliseconds()}
}

// settings handles GET /settings.
func (a *API) settings(r *http.Request) (any, error) {
	s, err := a.Shop.SettingsInForce(r.Context())
	return SettingsOf(s), err
}

// putSettings handles PUT /settings: it starts a new run in every replica. Omitted settings keep their values.
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
	case body.TTL != nil && (*body.TTL < minTTLMillis || *body.TTL > maxTTLMillis):
		err = fmt.Errorf("ttl_ms: %d is not allowed", *body.TTL)
	case body.Think != nil && (*body.Think < 0 || *body.Think > maxThinkMillis):
		err = fmt.Errorf("think_ms: %d is not allowed", *body.Think)
	case body.Nested != nil && (*body.Nested < 0 || *body.Nested > maxNested):
		err = fmt.Errorf("nested: %d is not allowed", *body.Nested)
	}
	if err != nil {
		return nil, BadRequest(err, fmt.Sprintf(
			`want {"ttl_ms":3000,"think_ms":5000,"nested":0}: ttl_ms from %d to %d, think_ms up to %d, nested up to %d`,
			minTTLMillis, maxTTLMillis, maxThinkMillis, maxNested))
	}
	s, err := a.Shop.SettingsInForce(r.Context())
	if err != nil {
		return nil, err
	}
	now := s.Tuning()
	tuning := history.Tuning{
		TTL: valueOr(body.TTL, now.TTL), Think: valueOr(body.Think, now.Think), Nested: valueOr(body.Nested, now.Nested),
	}
	return SettingsOf(s.WithTuning(tuning)), a.Shop.Tune(r.Context(), tuning)
}

// valueOr returns *value, or now if value is nil.
func valueOr[T any](value *T, now T) T {
	if value == nil {
		return now
	}
	return *value
}
