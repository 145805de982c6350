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

	"lockstep/internal/api/answer"
	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
)

// API serves a shop.
type API struct {
	Shop    *service.Shop
	Replica string
	Redis   string                                       // for people: which Redis this is
	Version string                                       // of its server, with its name; "" if it does not tell
	Buyers  int                                          // that come in at once; 0: there is no bound
	Nodes   []string                                     // addresses of the masters for locks that are on several
	Fits    func(ctx context.Context, lock string) error // fails if the lock cannot be made on this Redis
	Log     *slog.Logger
	Guard   Guard
	Metrics Metrics
	NewID   func() string // makes the ids of orders

	BehindFront bool // a cluster's front has made the ids of orders
}

// Metrics counts the answers to sales, and serves the counts.
type Metrics interface {
	http.Handler
	Answered(outcome string) // "sold", "replayed", or the error's code
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
	Segment     int     `json:"segment,omitempty"`
	WaitMS      float64 `json:"wait_ms"`
	HoldMS      float64 `json:"hold_ms"`
}

func (a *API) sale(w http.ResponseWriter, r *http.Request) error {
	key, err := IdempotencyKey(r.Header)
	if err != nil {
		return err
	}
	id := a.orderID(r, key)
	receipt, err := a.Shop.Sell(r.Context(), service.OrderRequest{ID: id, Idempotent: key != ""})
	if errors.Is(err, service.ErrOutcomeUnknown) {
		err = fmt.Errorf("%w; GET /orders/%s says whether it was", err, id)
	}
	if err != nil {
		_, code := answer.StatusOf(err)
		a.Metrics.Answered(code)
		return answer.OfSale(id, err)
	}
	if receipt.Replayed {
		w.Header().Set(ReplayedHeader, "true")
		a.Metrics.Answered("replayed")
	} else {
		a.Metrics.Answered("sold")
	}
	answer.Write(w, http.StatusOK, SaleAnswer{
		OrderID: receipt.ID, RunID: receipt.RunID, Lock: receipt.Lock, Replica: receipt.Replica,
		StockBefore: receipt.Before, StockAfter: receipt.After, Fence: receipt.Fence, Segment: receipt.Segment,
		WaitMS: millis(receipt.Wait), HoldMS: millis(receipt.Hold),
	})
	return nil
}

// order tells a buyer who was left in doubt whether the sale was made.
func (a *API) order(r *http.Request) (any, error) {
	id := r.PathValue("id")
	order, err := a.Shop.Order(r.Context(), id)
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

func (a *API) inventory(r *http.Request) (any, error) {
	tally, err := a.Shop.Tally(r.Context())
	return tally.Report(), err
}

func (a *API) putInventory(r *http.Request) (any, error) {
	var body struct {
		Stock *int64 `json:"stock"`
	}
	err := Read(r, &body)
	switch {
	case err == nil && body.Stock == nil:
		err = errors.New("stock is missing")
	case err == nil && (*body.Stock < 0 || *body.Stock > history.MaxStock):
		err = fmt.Errorf("stock: %d is not allowed", *body.Stock)
	}
	if err != nil {
		return nil, BadRequest(err, fmt.Sprintf(`want {"stock":200}, a whole number from 0 to %d`, history.MaxStock))
	}
	tally, err := a.Shop.SetStock(r.Context(), *body.Stock)
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

func (a *API) lock(r *http.Request) (any, error) {
	version, key, err := a.Shop.LockState(r.Context())
	return a.lockAnswer(version, key), err
}

func (a *API) lockAnswer(version string, key service.KeyState) LockAnswer {
	strategy, _ := evolution.Find(version) // one of a newer replica has no title here
	answer := LockAnswer{Version: version, Title: strategy.Title.In(language.English), Versions: evolution.Names(), Key: key}
	if strategy.OnNodes {
		answer.Nodes = a.Nodes
	}
	return answer
}

// lockChanged answers a request that has changed the lock. That its key cannot be read then is no failure of the change.
func (a *API) lockChanged(r *http.Request) LockAnswer {
	version, key, err := a.Shop.LockState(r.Context())
	if err != nil {
		a.Log.Warn("the lock was changed, and its key cannot be read", "error", err)
		key = service.KeyState{Name: lock.Key, Type: "unknown", TTL: noKey}
	}
	return a.lockAnswer(version, key)
}

// noKey is what PTTL says of a key that does not exist.
const noKey = -2

func (a *API) putLock(r *http.Request) (any, error) {
	var body struct {
		Version *string `json:"version"`
	}
	err := Read(r, &body)
	if err == nil && body.Version == nil {
		err = errors.New("version is missing")
	}
	if err != nil {
		return nil, BadRequest(err, `want {"version":"v4"}, one of `+strings.Join(evolution.Names(), ", "))
	}
	if err = a.Fits(r.Context(), *body.Version); err == nil {
		err = a.Shop.SetLock(r.Context(), *body.Version)
	}
	if err != nil {
		return nil, err
	}
	return a.lockChanged(r), nil
}

func (a *API) deleteLock(r *http.Request) (any, error) {
	released, err := a.Shop.ForceUnlock(r.Context())
	if err != nil {
		return nil, err
	}
	answer := a.lockChanged(r)
	answer.Released = &released
	return answer, nil
}

// Health is what GET /healthz gives; Service tells a lockstep from another program on its port.
type Health struct {
	Service string `json:"service"`
	Status  string `json:"status"`
	Replica string `json:"replica"`
	Redis   string `json:"redis"`
}

// Readiness is what GET /readyz gives.
type Readiness struct {
	Health

	Version string `json:"redis_version,omitempty"` // if the server tells it
	Buyers  int    `json:"buyers,omitempty"`        // at once, by how many files the process may open; 0: there is no bound
}

// healthz answers as long as the process runs.
func (a *API) healthz(*http.Request) (any, error) { return a.health("ok"), nil }

// readyTimeout is how long readyz waits for Redis: whoever asks soon asks again.
const readyTimeout = time.Second

var errNotReady = fmt.Errorf("%w: it has not answered within %v", lock.ErrUnavailable, readyTimeout)

// readyz answers with success if the replica can sell: a write was tried.
func (a *API) readyz(r *http.Request) (any, error) {
	ctx, cancel := context.WithTimeoutCause(r.Context(), readyTimeout, errNotReady)
	defer cancel()
	return Readiness{a.health("ready"), a.Version, a.Buyers}, a.Shop.Ready(ctx)
}

func (a *API) health(status string) Health {
	return Health{Service: "lockstep", Status: status, Replica: a.Replica, Redis: a.Redis}
}
