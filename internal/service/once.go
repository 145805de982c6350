package service

import (
	"context"
	"errors"

	"lockstep/internal/lock"
	"lockstep/internal/service/history"
)

// SellOnce sells one piece as order id, unless the ledger keeps such an order, of this run or of an earlier one: then it returns that one's
// receipt, as Replayed. Requests for one order may come at the same time, to any replica. It fails as Sell does; an error says only that
// this request sold nothing, for another one may be going on.
func (s *Shop) SellOnce(ctx context.Context, id string) (Receipt, error) {
	return s.sell(ctx, id, func(session *session) (Receipt, error) { return s.sellUnlessMade(ctx, session, id) })
}

// sellUnlessMade looks the order up, and sells if it is not made. The run is known before: what an earlier run can still write is in the
// ledger by then, as the store refuses all else of it; and of this run the store knows the orders itself.
func (s *Shop) sellUnlessMade(ctx context.Context, session *session, id string) (Receipt, error) {
	if order, err := s.Ledger.Order(ctx, id); !errors.Is(err, ErrNoOrder) {
		return replayed(order), err
	}
	owner := lock.Owner(s.NewID())
	receipt, err := session.sellAs(ctx, id, owner)
	if errors.Is(err, ErrSoldOut) { // perhaps by this very order, since it was looked up
		if order, found := s.Ledger.Order(ctx, id); !errors.Is(found, ErrNoOrder) {
			return replayed(order), found
		}
	}
	if err == nil && receipt.Owner != owner {
		return replayed(receipt.Order), nil
	}
	return receipt, err
}

// replayed returns the receipt of an order that another request has made.
func replayed(order history.Order) Receipt { return Receipt{Order: order, Replayed: true} }
