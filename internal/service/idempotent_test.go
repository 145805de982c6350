package service

import (
	"context"
	"errors"
	"testing"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
)

// ledgerOfOrders is a ledger that answers each lookup of an order with the next of its answers; after the last one, no order is found.
type ledgerOfOrders struct {
	*fakeLedger
	answers []func() (history.Order, error)
}

func (k *ledgerOfOrders) Order(context.Context, string) (history.Order, error) {
	if len(k.answers) == 0 {
		return history.Order{}, ErrNoOrder
	}
	answer := k.answers[0]
	k.answers = k.answers[1:]
	return answer()
}

// stockOfOrder is a stock in which an order may have been written before.
type stockOfOrder struct {
	endlessStock
	read  error
	order history.Order // order that was written before; zero: none
}

func (s stockOfOrder) Read(context.Context, history.Order) (int64, error) { return 1, s.read }
func (s stockOfOrder) Write(_ context.Context, order history.Order) (history.Order, error) {
	if s.order.ID != "" {
		return s.order, nil
	}
	return order, nil
}

// A sale with an idempotency key is made once. If the order is in the ledger, or turns up there during the sale, its result is replayed.
func TestIdempotentSaleIsReplayed(t *testing.T) {
	first := history.Order{ID: "order", RunID: "an earlier one", Owner: "another", Before: 9, After: 8}
	none := func() (history.Order, error) { return history.Order{}, ErrNoOrder }
	there := func() (history.Order, error) { return first, nil }
	gone := func() (history.Order, error) { return history.Order{}, lock.ErrUnavailable }
	for name, c := range map[string]struct {
		answers      []func() (history.Order, error) // replies to the lookups of the order, in order
		stock        stockOfOrder
		want         error
		wantReplayed bool
		wantLocked   bool // whether the sale asked for the lock
	}{
		"first request":            {wantLocked: true},
		"order in the ledger":      {answers: []func() (history.Order, error){there}, wantReplayed: true},
		"ledger unavailable":       {answers: []func() (history.Order, error){gone}, want: lock.ErrUnavailable},
		"written after the lookup": {stock: stockOfOrder{order: first}, wantReplayed: true, wantLocked: true},
		"sold out":                 {stock: stockOfOrder{read: ErrSoldOut}, want: ErrSoldOut, wantLocked: true},
		"sold out by this order": {
			answers: []func() (history.Order, error){none, there}, stock: stockOfOrder{read: ErrSoldOut}, wantReplayed: true, wantLocked: true,
		},
		"sold out by an unknown order": {
			answers: []func() (history.Order, error){none, gone}, stock: stockOfOrder{read: ErrSoldOut}, want: lock.ErrUnavailable, wantLocked: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			shop, ledger, events := newShopOfKeepingLocks(t)
			shop.Ledger, shop.Stock = &ledgerOfOrders{ledger, c.answers}, c.stock
			receipt, err := shop.Sell(t.Context(), OrderRequest{ID: "order", Idempotent: true})
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if receipt.Replayed != c.wantReplayed {
				t.Errorf("%+v is replayed: %t, want %t", receipt, receipt.Replayed, c.wantReplayed)
			}
			if locked := len(*events) > 1; locked != c.wantLocked {
				t.Errorf("the sale came as far as the lock: %t, want %t; events %q", locked, c.wantLocked, *events)
			}
			if want := (Receipt{Order: first, Replayed: true}); c.wantReplayed && receipt != want {
				t.Errorf("%+v, want %+v", receipt, want)
			}
			if err == nil && !c.wantReplayed && (receipt.ID != "order" || receipt.Owner != lock.Owner("next")) {
				t.Errorf("%+v, want an owner of its own", receipt)
			}
			if len(shop.inFlight.requests) > 0 || shop.session != nil && shop.session.admitted > 0 {
				t.Error("the sale is still in flight")
			}
		})
	}
}
