// Package api is the service over HTTP: JSON in and out, errors as {"error":{"code":"…","message":"…"}}.
package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/answer"
)

// API serves a shop.
type API struct {
	Shop    *service.Shop
	Replica string
	Redis   string                                       // for people: which Redis this is
	Nodes   []string                                     // addresses of the masters for locks that are on several
	Fits    func(ctx context.Context, lock string) error // fails if the lock cannot be made on this Redis
	Log     *slog.Logger
	Guard   Guard
	Metrics Metrics
	Events  http.Handler            // streams what this replica's locks do; nil: there is no such stream
	Live    http.Handler            // shows the shop to those who watch it; nil: it is not shown
	Streams *Streams                // bounds those of Events and Live; nil: there is no bound
	Seat    http.Handler            // the scheduler's seat; nil: there is none
	Labs    http.Handler            // their list; nil: there is none
	Course  http.Handler            // the lessons, and the room where a class predicts; nil: there are none
	Page    map[string]http.Handler // the page's files, by their paths
	NewID   func() string           // makes the ids of orders

	BehindFront bool         // a cluster's front has made the ids of orders
	NodeFaults  http.Handler // stops and empties embedded masters; nil: there are none
}

// Metrics counts the answers to sales, and serves the counts.
type Metrics interface {
	http.Handler
	Answered(outcome string) // "sold", "replayed", or the error's code
}

// Handler returns the routes, to be put behind an Entrance. HEAD is handled as GET; net/http leaves out the body.
func (a *API) Handler() http.Handler {
	routes := a.routes()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			r = r.WithContext(r.Context()) // a copy: net/http looks at the original to leave out the body
			r.Method = http.MethodGet
		}
		routes.ServeHTTP(w, r)
	})
}

func (a *API) routes() http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.RedirectTrailingSlash = false
	engine.Use(a.authorize)
	engine.NoRoute(func(c *gin.Context) { a.fail(c, errNotFound) })
	engine.NoMethod(func(c *gin.Context) {
		if methods := ownMethods(engine.Routes(), c.Request.URL.Path); methods != nil {
			a.fail(c, &methodError{methods})
			return
		}
		a.fail(c, errNotAllowed) // gin has set Allow
	})

	for path, file := range a.Page {
		engine.GET(path, gin.WrapH(file))
	}
	for _, route := range a.elsewhere() {
		if route.handler == nil {
			route.handler = absent
		}
		engine.Handle(route.method, route.path, gin.WrapH(route.handler))
	}
	for _, path := range []string{answerPath, solvedPath} { // or each would be the number of a lesson
		engine.GET(path, gin.WrapH(only(http.MethodPost)))
	}
	engine.GET("/openapi.json", document)
	engine.GET("/healthz", a.answer(a.healthz))
	engine.GET("/readyz", a.answer(a.readyz))
	engine.GET("/settings", a.answer(a.settings))
	engine.PUT("/settings", a.answer(a.putSettings))
	engine.POST("/inventory/sale", a.answer(a.sale))
	engine.GET("/inventory", a.answer(a.inventory))
	engine.PUT("/inventory", a.answer(a.putInventory))
	engine.GET("/orders/:id", a.answer(a.order))
	engine.GET("/lock", a.answer(a.lock))
	engine.PUT("/lock", a.answer(a.putLock))
	engine.DELETE("/lock", a.answer(a.deleteLock))
	return engine
}

// answer returns the handler that answers with what do returns: a value, or an error.
func (a *API) answer(do func(*gin.Context) (any, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		value, err := do(c)
		if err != nil {
			a.fail(c, err)
			return
		}
		answer.Write(c.Writer, http.StatusOK, value)
	}
}

// SaleAnswer is what a buyer gets.
type SaleAnswer struct {
	OrderID     string  `json:"order_id"`
	RunID       string  `json:"run_id"`
	Lock        string  `json:"lock"`
	Replica     string  `json:"replica"`
	StockBefore int64   `json:"stock_before"`
	StockAfter  int64   `json:"stock_after"`
	Fence       int64   `json:"fence"`
	WaitMS      float64 `json:"wait_ms"`
	HoldMS      float64 `json:"hold_ms"`
}

func (a *API) sale(c *gin.Context) (any, error) {
	key, err := IdempotencyKey(c.Request.Header)
	if err != nil {
		return nil, err
	}
	id, sell := a.orderID(c.Request, key), a.Shop.Sell
	if key != "" {
		sell = a.Shop.SellOnce
	}
	receipt, err := sell(c.Request.Context(), id)
	if errors.Is(err, service.ErrOutcomeUnknown) {
		err = fmt.Errorf("%w; GET /orders/%s says whether it was", err, id)
	}
	if err != nil {
		c.Set(orderKey, id)
		_, code := answer.StatusOf(err)
		a.Metrics.Answered(code)
		return nil, err
	}
	if receipt.Replayed {
		c.Header(ReplayedHeader, "true")
		a.Metrics.Answered("replayed")
	} else {
		a.Metrics.Answered("sold")
	}
	return SaleAnswer{
		OrderID: receipt.ID, RunID: receipt.RunID, Lock: receipt.Lock, Replica: receipt.Replica,
		StockBefore: receipt.Before, StockAfter: receipt.After, Fence: receipt.Fence,
		WaitMS: millis(receipt.Wait), HoldMS: millis(receipt.Hold),
	}, nil
}

// orderKey is the gin key of the id of an order that was not made.
const orderKey = "order_id"

// order tells a buyer who was left in doubt whether the sale was made.
func (a *API) order(c *gin.Context) (any, error) {
	id := c.Param("id")
	order, err := a.Shop.Order(c.Request.Context(), id)
	switch {
	case errors.Is(err, service.ErrInFlight):
		err = fmt.Errorf("order %.80q: %w; ask again", id, err)
	case errors.Is(err, service.ErrNoOrder):
		err = fmt.Errorf("order %.80q: %w; one whose replica, or whose way to Redis, hangs may still come, "+
			"and old orders are forgotten (inventory.max_orders)", id, err)
	}
	return order, err
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (a *API) inventory(c *gin.Context) (any, error) {
	tally, err := a.Shop.Tally(c.Request.Context())
	return tally.Report(), err
}

func (a *API) putInventory(c *gin.Context) (any, error) {
	var body struct {
		Stock *int64 `json:"stock"`
	}
	err := Read(c.Request, &body)
	switch {
	case err == nil && body.Stock == nil:
		err = errors.New("stock is missing")
	case err == nil && (*body.Stock < 0 || *body.Stock > history.MaxStock):
		err = fmt.Errorf("stock: %d is not allowed", *body.Stock)
	}
	if err != nil {
		return nil, BadRequest(err, fmt.Sprintf(`want {"stock":200}, a whole number from 0 to %d`, history.MaxStock))
	}
	tally, err := a.Shop.SetStock(c.Request.Context(), *body.Stock)
	return tally.Report(), err
}

// LockAnswer is what GET /lock gives.
type LockAnswer struct {
	Version  string           `json:"version"`
	Title    string           `json:"title"`
	Versions []string         `json:"versions"`
	Key      service.KeyState `json:"key"`
	Nodes    []string         `json:"nodes,omitempty"`    // of a lock that is on several masters
	Released *bool            `json:"released,omitempty"` // of DELETE /lock: whether there was a lock
}

func (a *API) lock(c *gin.Context) (any, error) { return a.lockAnswer(c) }

func (a *API) lockAnswer(c *gin.Context) (LockAnswer, error) {
	version, key, err := a.Shop.LockState(c.Request.Context())
	if err != nil {
		return LockAnswer{}, err
	}
	strategy, err := evolution.Find(version)
	answer := LockAnswer{Version: version, Title: strategy.Title.In(language.English), Versions: evolution.Names(), Key: key}
	if strategy.OnNodes {
		answer.Nodes = a.Nodes
	}
	return answer, err
}

func (a *API) putLock(c *gin.Context) (any, error) {
	var body struct {
		Version *string `json:"version"`
	}
	err := Read(c.Request, &body)
	if err == nil && body.Version == nil {
		err = errors.New("version is missing")
	}
	if err != nil {
		return nil, BadRequest(err, `want {"version":"v4"}, one of `+strings.Join(evolution.Names(), ", "))
	}
	if err = a.Fits(c.Request.Context(), *body.Version); err == nil {
		err = a.Shop.SetLock(c.Request.Context(), *body.Version)
	}
	if err != nil {
		return nil, err
	}
	return a.lockAnswer(c)
}

func (a *API) deleteLock(c *gin.Context) (any, error) {
	released, err := a.Shop.ForceUnlock(c.Request.Context())
	if err != nil {
		return nil, err
	}
	answer, err := a.lockAnswer(c)
	answer.Released = &released
	return answer, err
}

// Health is what GET /healthz gives; Service tells a lockstep from another program on its port.
type Health struct {
	Service string `json:"service"`
	Status  string `json:"status"`
	Replica string `json:"replica"`
	Redis   string `json:"redis"`
}

// healthz answers as long as the process runs.
func (a *API) healthz(*gin.Context) (any, error) { return a.health("ok"), nil }

// readyTimeout is how long readyz waits for Redis: whoever asks soon asks again.
const readyTimeout = time.Second

var errNotReady = fmt.Errorf("%w: it has not answered within %v", lock.ErrUnavailable, readyTimeout)

// readyz answers with success if the replica can sell: a write was tried.
func (a *API) readyz(c *gin.Context) (any, error) {
	ctx, cancel := context.WithTimeoutCause(c.Request.Context(), readyTimeout, errNotReady)
	defer cancel()
	return a.health("ready"), a.Shop.Ready(ctx)
}

func (a *API) health(status string) Health {
	return Health{Service: "lockstep", Status: status, Replica: a.Replica, Redis: a.Redis}
}
