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
	for _, c := range []struct {
		what     string
		answers  []func() (history.Order, error)
		stock    soldBefore
		err      error
		replayed bool
		sold     bool // it came as far as the lock
	}{
		{"the first request", nil, soldBefore{}, nil, false, true},
		{"kept", []func() (history.Order, error){there}, soldBefore{}, nil, true, false},
		{"it cannot be looked up", []func() (history.Order, error){gone}, soldBefore{}, lock.ErrUnavailable, false, false},
		{"written since it was looked up", nil, soldBefore{order: first}, nil, true, true},
		{"sold out", nil, soldBefore{read: ErrSoldOut}, ErrSoldOut, false, true},
		{"the last piece is its own", []func() (history.Order, error){none, there}, soldBefore{read: ErrSoldOut}, nil, true, true},
		{"nobody knows whose it is", []func() (history.Order, error){none, gone}, soldBefore{read: ErrSoldOut}, lock.ErrUnavailable, false, true},
	} {
		shop, ledger, events := shopOfKeepers(t)
		shop.Ledger, shop.Stock = &kept{ledger, c.answers}, c.stock
		receipt, err := shop.Sell(t.Context(), OrderRequest{ID: "order", Idempotent: true})
		if !errors.Is(err, c.err) || receipt.Replayed != c.replayed || (len(*events) > 1) != c.sold {
			t.Errorf("%s: %+v, %v, %q; want replayed %v, %v", c.what, receipt, err, *events, c.replayed, c.err)
		}
		if c.replayed && receipt != (Receipt{Order: first, Replayed: true}) {
			t.Errorf("%s: %+v; want %+v", c.what, receipt, first)
		}
		if err == nil && !c.replayed && (receipt.ID != "order" || receipt.Owner != lock.Owner("next")) {
			t.Errorf("%s: %+v; want an owner of its own", c.what, receipt)
		}
		if len(shop.inFlight.requests) > 0 || shop.session != nil && shop.session.admitted > 0 {
			t.Errorf("%s: it did not leave", c.what)
		}
	}
}
