package service

import (
	"context"
	"errors"
	"testing"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
)

// kept is a room whose ledger keeps orders: each look-up is answered by the next of its answers, and then there is none.
type kept struct {
	*fakeLedger
	answers []func() (history.Order, error)
}

func (k *kept) Order(context.Context, string) (history.Order, error) {
	if len(k.answers) == 0 {
		return history.Order{}, ErrNoOrder
	}
	answer := k.answers[0]
	k.answers = k.answers[1:]
	return answer()
}

// soldBefore is a stock that may know the order.
type soldBefore struct {
	plenty
	read  error
	order history.Order // as it is written already; none: it is written now
}

func (s soldBefore) Read(context.Context, history.Order) (int64, error) { return 1, s.read }
func (s soldBefore) Write(_ context.Context, order history.Order) (history.Order, error) {
	if s.order.ID != "" {
		return s.order, nil
	}
	return order, nil
}

// A sale by a key is made once: what the ledger keeps is replayed, and whatever is found out in between.
func TestIdempotentSaleIsReplayed(t *testing.T) {
	first := history.Order{ID: "order", RunID: "an earlier one", Owner: "another", Before: 9, After: 8}
	none := func() (history.Order, error) { return history.Order{}, ErrNoOrder }
	there := func() (history.Order, error) { return first, nil }
	gone := func() (history.Order, error) { return history.Order{}, lock.ErrUnavailable }
	for name, c := range map[string]struct {
		answers      []func() (history.Order, error) // replies to the lookups of the order, in order
		stock        soldBefore
		want         error
		wantReplayed bool
		wantLocked   bool // the sale came as far as the lock
	}{
		"first request":            {wantLocked: true},
		"order in the ledger":      {answers: []func() (history.Order, error){there}, wantReplayed: true},
		"ledger unavailable":       {answers: []func() (history.Order, error){gone}, want: lock.ErrUnavailable},
		"written after the lookup": {stock: soldBefore{order: first}, wantReplayed: true, wantLocked: true},
		"sold out":                 {stock: soldBefore{read: ErrSoldOut}, want: ErrSoldOut, wantLocked: true},
		"sold out by this order": {
			answers: []func() (history.Order, error){none, there}, stock: soldBefore{read: ErrSoldOut}, wantReplayed: true, wantLocked: true,
		},
		"sold out by an unknown order": {
			answers: []func() (history.Order, error){none, gone}, stock: soldBefore{read: ErrSoldOut}, want: lock.ErrUnavailable, wantLocked: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			shop, ledger, events := shopOfKeepers(t)
			shop.Ledger, shop.Stock = &kept{ledger, c.answers}, c.stock
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
