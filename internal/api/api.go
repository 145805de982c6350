// Package api serves a shop over HTTP. Requests and responses are JSON; errors have the form {"error":{"code":"…","message":"…"}}.
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

// API handles the HTTP requests of a shop. Begin with Routes.
type API struct {
	Shop      *service.Shop
	Replica   string
	Redis     string                                       // human-readable name of the Redis
	Version   string                                       // name and version of the Redis server; empty: unknown
	Buyers    int                                          // limit of concurrent buyers; 0: no limit
	Nodes     []string                                     // addresses of the masters for locks on several nodes
	CheckLock func(ctx context.Context, lock string) error // returns an error if the lock cannot run on this Redis
	Log       *slog.Logger
	Guard     Guard
	Metrics   Metrics
	NewID     func() string // returns a new order id

	BehindFront bool // true: the cluster's reverse proxy has assigned the order ids
}

// Metrics counts the answers to sales, and serves the counts.
type Metrics interface {
	http.Handler
	Answered(outcome string) // "sold", "replayed", or the error's code
}

// SaleAnswer is the body of a successful POST /inventory/sale.
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

// sale handles POST /inventory/sale.
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
		return answer.WithOrderID(id, err)
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

// order handles GET /orders/{id}, which resolves a sale whose outcome is unknown.
func (a *API) order(r *http.Request) (any, error) {
	id := r.PathValue("id")
	order, err := a.Shop.Order(r.Context(), id)
	switch {
	case errors.Is(err, service.ErrInFlight):
		err = fmt.Errorf("order %.80q: %w; ask again", id, err)
	case errors.Is(err, service.ErrNoOrder):
		err = fmt.Errorf("order %.80q: %w; it may still be written if its replica or connection hangs, "+
			"and old orders are forgotten (inventory.max_orders)", id, err)
	}
	return order, err
}

// millis converts d to milliseconds.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// inventory handles GET /inventory.
func (a *API) inventory(r *http.Request) (any, error) {
	tally, err := a.Shop.Tally(r.Context())
	return tally.Report(), err
}

// putInventory handles PUT /inventory: it starts a new run with the given stock.
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

// LockAnswer is the body of GET, PUT and DELETE /lock.
type LockAnswer struct {
	Version  string           `json:"version"`
	Title    string           `json:"title"`
	Versions []string         `json:"versions"`
	Key      service.KeyState `json:"key"`
	Nodes    []string         `json:"nodes,omitempty"`    // addresses of the masters, for a lock on several nodes
	Released *bool            `json:"released,omitempty"` // whether DELETE /lock found a lock; absent for other methods
}

// lock handles GET /lock.
func (a *API) lock(r *http.Request) (any, error) {
	version, key, err := a.Shop.LockState(r.Context())
	return a.lockAnswer(version, key), err
}

// lockAnswer describes a lock and its key.
func (a *API) lockAnswer(version string, key service.KeyState) LockAnswer {
	strategy, _ := evolution.Find(version) // A lock of a newer replica has no title here.
	answer := LockAnswer{Version: version, Title: strategy.Title.In(language.English), Versions: evolution.Names(), Key: key}
	if strategy.OnNodes {
		answer.Nodes = a.Nodes
	}
	return answer
}

// lockChanged returns the answer to a request that has changed the lock. If the key cannot be read, the change has still succeeded.
func (a *API) lockChanged(r *http.Request) LockAnswer {
	version, key, err := a.Shop.LockState(r.Context())
	if err != nil {
		a.Log.Warn("the lock was changed, and its key cannot be read", "error", err)
		key = service.KeyState{Name: lock.Key, Type: "unknown", TTL: noKey}
	}
	return a.lockAnswer(version, key)
}

// noKey is the reply of PTTL for a missing key.
const noKey = -2

// putLock handles PUT /lock: it starts a new run with the given lock.
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
	if err = a.CheckLock(r.Context(), *body.Version); err == nil {
		err = a.Shop.SetLock(r.Context(), *body.Version)
	}
	if err != nil {
		return nil, err
	}
	return a.lockChanged(r), nil
}

// deleteLock handles DELETE /lock. Without force it takes the lock from the named holder only, because a lock that looks stuck may have
// changed hands in the meantime.
func (a *API) deleteLock(r *http.Request) (any, error) {
	query := r.URL.Query()
	holder, force := query.Get("holder"), query.Get("force")
	var err error
	switch {
	case query.Has("force") && force != "true":
		err = fmt.Errorf("force: %q is not allowed", force)
	case holder == "" && (force == "" || query.Has("holder")):
		err = errors.New("holder is missing")
	}
	if err != nil {
		return nil, BadRequest(err, "want ?holder= with key.holder of GET /lock, or ?force=true, which takes the lock from whoever has it")
	}
	if force == "true" {
		holder = "" // any holder
	}
	released, err := a.Shop.RemoveLock(r.Context(), holder)
	if err != nil {
		return nil, err
	}
	answer := a.lockChanged(r)
	answer.Released = &released
	return answer, nil
}

// Health is the body of GET /healthz. Service distinguishes lockstep from another program on the same port.
type Health struct {
	Service string `json:"service"`
	Status  string `json:"status"`
	Replica string `json:"replica"`
	Redis   string `json:"redis"`
}

// Readiness is the body of GET /readyz.
type Readiness struct {
	Health

	Version string `json:"redis_version,omitempty"` // empty: unknown
	Buyers  int    `json:"buyers,omitempty"`        // limit of concurrent buyers, from the open-file limit; 0: no limit
}

// healthz handles GET /healthz. It succeeds as long as the process runs.
func (a *API) healthz(*http.Request) (any, error) { return a.health("ok"), nil }

// readyTimeout is how long readyz waits for Redis. It is short because health checks repeat.
const readyTimeout = time.Second

// errNotReady is the cause of readyz's timeout.
var errNotReady = fmt.Errorf("%w: it has not answered within %v", lock.ErrUnavailable, readyTimeout)

// readyz handles GET /readyz. It succeeds if a trial write shows that the replica can sell.
func (a *API) readyz(r *http.Request) (any, error) {
	ctx, cancel := context.WithTimeoutCause(r.Context(), readyTimeout, errNotReady)
	defer cancel()
	return Readiness{a.health("ready"), a.Version, a.Buyers}, a.Shop.CheckReady(ctx)
}

// health returns the fields that healthz and readyz have in common.
func (a *API) health(status string) Health {
	return Health{Service: "lockstep", Status: status, Replica: a.Replica, Redis: a.Redis}
}
