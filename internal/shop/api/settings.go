package api

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"lockstep/internal/service"
	"lockstep/internal/service/history"
)

// The bounds of what a page may set: a sale that takes longer would hold up everybody who wants to end or change the run.
const (
	leastTTL   = 10
	mostTTL    = 600_000
	mostThink  = 60_000
	mostNested = 10
)

// SettingsAnswer is what GET /settings gives: what the sales of the run are made with.
type SettingsAnswer struct {
	TTL    int64 `json:"ttl_ms"`
	Think  int64 `json:"think_ms"`
	Nested int   `json:"nested"`
	Wait   int64 `json:"wait_ms"`
}

func (a *API) settings(c *gin.Context) {
	s, err := a.Shop.InForce(c.Request.Context())
	if err != nil {
		a.fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, AnswerOf(s))
}

// AnswerOf gives settings as GET /settings does.
func AnswerOf(s service.Settings) SettingsAnswer {
	return SettingsAnswer{
		TTL: s.Lock.TTL.Milliseconds(), Think: s.Think.Milliseconds(), Nested: s.Nested, Wait: s.Lock.WaitTimeout.Milliseconds(),
	}
}

// putSettings starts a new run with these settings, in every replica. What is not given stays.
func (a *API) putSettings(c *gin.Context) {
	var body struct {
		TTL    *int64 `json:"ttl_ms"`
		Think  *int64 `json:"think_ms"`
		Nested *int   `json:"nested"`
	}
	err := Read(c.Request, &body)
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
		a.fail(c, BadRequest(err, fmt.Sprintf(
			`want {"ttl_ms":3000,"think_ms":5000,"nested":0}: ttl_ms from %d to %d, think_ms up to %d, nested up to %d`,
			leastTTL, mostTTL, mostThink, mostNested)))
		return
	}
	s, err := a.Shop.InForce(c.Request.Context())
	if err != nil {
		a.fail(c, err)
		return
	}
	tuning := history.Tuning{TTL: s.Lock.TTL, Think: s.Think, Nested: s.Nested}
	if body.TTL != nil {
		tuning.TTL = time.Duration(*body.TTL) * time.Millisecond
	}
	if body.Think != nil {
		tuning.Think = time.Duration(*body.Think) * time.Millisecond
	}
	if body.Nested != nil {
		tuning.Nested = *body.Nested
	}
	if err := a.Shop.Tune(c.Request.Context(), tuning); err != nil {
		a.fail(c, err)
		return
	}
	a.settings(c)
}
