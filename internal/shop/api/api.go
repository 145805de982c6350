// Package api is the service over HTTP: JSON in and out, errors as {"error":{"code":"…","message":"…"}}.
package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
)

// API serves a shop.
type API struct {
	Shop     *service.Shop
	Replica  string
	Redis    string   // for people: which Redis this is
	Nodes    []string // addresses of the masters for locks that are on several
	Log      *slog.Logger
	Guard    Guard
	Metrics  Metrics
	Events   http.Handler            // streams what this replica's locks do; nil: there is no such stream
	Live     http.Handler            // shows the shop to those who watch it; nil: it is not shown
	Seat     http.Handler            // the scheduler's seat; nil: there is none
	Course   http.Handler            // the lessons, and the room where a class predicts; nil: there are none
	Page     map[string]http.Handler // the page's files, by their paths
	OrderIDs OrderIDs

	NodeFaults http.Handler // stops and empties embedded masters; nil: there are none
}

// Metrics counts the answers to sales, and serves the counts.
type Metrics interface {
	http.Handler
	Answered(outcome string) // "sold", or the error's code
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
	engine.NoMethod(func(c *gin.Context) { a.fail(c, errNotAllowed) })

	for path, file := range a.Page {
		engine.GET(path, gin.WrapH(file))
	}
	engine.GET("/healthz", a.healthz)
	engine.GET("/readyz", a.readyz)
	engine.GET("/openapi.json", document)
	engine.GET("/metrics", gin.WrapH(a.Metrics))
	if a.Events != nil {
		engine.GET("/events", gin.WrapH(a.Events))
	}
	if a.Live != nil {
		for _, route := range liveRoutes() {
			engine.Handle(route.method, route.path, gin.WrapH(a.Live))
		}
	}
	if a.NodeFaults != nil {
		engine.GET("/nodes", gin.WrapH(a.NodeFaults))
		engine.POST("/nodes/:node", gin.WrapH(a.NodeFaults))
	}
	engine.GET("/settings", a.settings)
	engine.PUT("/settings", a.putSettings)
	if a.Seat != nil {
		engine.GET("/seat", gin.WrapH(a.Seat))
		engine.GET("/seat/*path", gin.WrapH(a.Seat))
	}
	if a.Course != nil {
		for _, route := range courseRoutes() {
			engine.Handle(route.method, route.path, gin.WrapH(a.Course))
		}
	}
	engine.POST("/inventory/sale", a.sale)
	engine.GET("/inventory", a.inventory)
	engine.GET("/orders/:id", a.order)
	engine.GET("/lock", a.lock)
	engine.PUT("/inventory", a.putInventory)
	engine.PUT("/lock", a.putLock)
	engine.DELETE("/lock", a.deleteLock)
	return engine
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

func (a *API) sale(c *gin.Context) {
	id := a.OrderIDs(c.Request)
	receipt, err := a.Shop.Sell(c.Request.Context(), id)
	if errors.Is(err, service.ErrOutcomeUnknown) {
		err = fmt.Errorf("%w; GET /orders/%s says whether it was", err, id)
	}
	if err != nil {
		c.Set(orderID, id)
		a.Metrics.Answered(a.fail(c, err))
		return
	}
	a.Metrics.Answered("sold")
	c.PureJSON(http.StatusOK, SaleAnswer{
		OrderID: receipt.ID, RunID: receipt.RunID, Lock: receipt.Lock, Replica: receipt.Replica,
		StockBefore: receipt.Before, StockAfter: receipt.After, Fence: receipt.Fence,
		WaitMS: millis(receipt.Wait), HoldMS: millis(receipt.Hold),
	})
}

// orderID is the gin key of the order's id.
const orderID = "order_id"

// order tells a buyer who was left in doubt whether the sale was made.
func (a *API) order(c *gin.Context) {
	id := c.Param("id")
	order, err := a.Shop.Ledger.Order(c.Request.Context(), id)
	switch {
	case errors.Is(err, service.ErrInFlight):
		err = fmt.Errorf("order %.80q: %w; ask again", id, err)
	case errors.Is(err, service.ErrNoOrder):
		err = fmt.Errorf("order %.80q: %w; one whose replica, or whose way to Redis, hangs may still come, "+
			"and old orders are forgotten (inventory.max_orders)", id, err)
	}
	if err != nil {
		a.fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, order)
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (a *API) inventory(c *gin.Context) {
	tally, err := a.Shop.Tally(c.Request.Context())
	a.answerTally(c, tally, err)
}

func (a *API) putInventory(c *gin.Context) {
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
		a.fail(c, BadRequest(err, fmt.Sprintf(`want {"stock":200}, a whole number from 0 to %d`, history.MaxStock)))
		return
	}
	tally, err := a.Shop.SetStock(c.Request.Context(), *body.Stock)
	a.answerTally(c, tally, err)
}

func (a *API) answerTally(c *gin.Context, tally history.Tally, err error) {
	if err != nil {
		a.fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, tally.Report())
}

// LockAnswer is what GET /lock gives.
type LockAnswer struct {
	Version  string   `json:"version"`
	Title    string   `json:"title"`
	Versions []string `json:"versions"`
	Key      LockKey  `json:"key"`
	Nodes    []string `json:"nodes,omitempty"`    // of a lock that is on several masters
	Released *bool    `json:"released,omitempty"` // of DELETE /lock: whether there was a lock
}

// LockKey is what Redis says of the lock's key.
type LockKey struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Holder string `json:"holder"`
	TTL    int64  `json:"ttl_ms"` // -1 never expires, -2 there is no key: as PTTL
}

func (a *API) lock(c *gin.Context) { a.answerLock(c, nil) }

func (a *API) putLock(c *gin.Context) {
	var body struct {
		Version *string `json:"version"`
	}
	err := Read(c.Request, &body)
	if err == nil && body.Version == nil {
		err = errors.New("version is missing")
	}
	if err != nil {
		a.fail(c, BadRequest(err, `want {"version":"v4"}, one of `+strings.Join(evolution.Names(), ", ")))
		return
	}
	strategy, err := evolution.Find(*body.Version)
	if err == nil {
		err = strategy.Fits(len(a.Nodes))
	}
	if err != nil {
		a.fail(c, err)
		return
	}
	if err := a.Shop.SetLock(c.Request.Context(), *body.Version); err != nil {
		a.fail(c, err)
		return
	}
	a.answerLock(c, nil)
}

func (a *API) deleteLock(c *gin.Context) {
	released, err := a.Shop.ForceUnlock(c.Request.Context())
	if err != nil {
		a.fail(c, err)
		return
	}
	a.answerLock(c, &released)
}

func (a *API) answerLock(c *gin.Context, released *bool) {
	version, key, err := a.Shop.LockState(c.Request.Context())
	if err != nil {
		a.fail(c, err)
		return
	}
	strategy, err := evolution.Find(version)
	if err != nil {
		a.fail(c, err)
		return
	}
	var nodes []string
	if strategy.OnNodes {
		nodes = a.Nodes
	}
	c.PureJSON(http.StatusOK, LockAnswer{
		Nodes: nodes, Version: version, Title: strategy.Title.In(language.English), Versions: evolution.Names(), Released: released,
		Key: LockKey{Name: key.Name, Type: key.Type, Holder: key.Holder, TTL: key.TTLMillis},
	})
}

// Health is what GET /healthz gives; Service tells a lockstep from another program on its port.
type Health struct {
	Service string `json:"service"`
	Status  string `json:"status"`
	Replica string `json:"replica"`
	Redis   string `json:"redis"`
}

// healthz answers as long as the process runs.
func (a *API) healthz(c *gin.Context) { c.PureJSON(http.StatusOK, a.health("ok")) }

// readyz answers with success if the replica can sell, that is, if Redis answers.
func (a *API) readyz(c *gin.Context) {
	if _, _, err := a.Shop.LockState(c.Request.Context()); err != nil {
		a.fail(c, err)
		return
	}
	c.PureJSON(http.StatusOK, a.health("ready"))
}

func (a *API) health(status string) Health {
	return Health{Service: "lockstep", Status: status, Replica: a.Replica, Redis: a.Redis}
}

// Write answers with JSON.
func Write(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(answer) // the client went away
}

// Read reads a JSON body, and refuses fields that to does not have.
func Read(r *http.Request, to any) error {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(to)
	var mistyped *json.UnmarshalTypeError
	switch {
	case errors.As(err, &mistyped) && mistyped.Field == "":
		return fmt.Errorf("a JSON %s is not allowed", mistyped.Value)
	case errors.As(err, &mistyped):
		return fmt.Errorf("%s: a JSON %s is not allowed", mistyped.Field, mistyped.Value)
	case errors.Is(err, io.EOF):
		return errors.New("the body is empty")
	case err != nil:
		return err
	case decoder.Decode(&struct{}{}) != io.EOF:
		return errors.New("there is more after the JSON object")
	}
	return nil
}
