package contestants

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"

	"lockstep/internal/lock"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
	"lockstep/internal/strategy"
)

// segmented is a sale in one of several segments of the stock: the shop's own.
type segmented struct {
	sale *service.Sale
	*stock
	closers []func() error
}

func newSegmented(row strategy.Strategy, parts strategy.Parts, stock *stock, closers ...func() error) segmented {
	return segmented{
		stock: stock, closers: closers,
		sale: &service.Sale{
			Run: history.Run{ID: Run}, Segments: service.SegmentLocks(row, parts, segments), Stock: whole{stock.Store}, Clock: parts.Clock,
			Log: slog.New(slog.DiscardHandler), Update: row.Update, Observers: service.Observers{entries{}},
			Backoff: service.Backoff{MaxDuration: parts.WaitTimeout},
		},
	}
}

// Sell is Seller's.
func (s segmented) Sell(ctx context.Context, entered func()) (sold bool, err error) {
	going, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, cancel)
	enter := func() {
		if stop() { // else the sale is about to be told that it waits no more
			entered()
		}
	}
	id := rand.Text()
	_, err = s.sale.Sell(context.WithValue(going, entries{}, enter), id, lock.Owner(id))
	return err == nil, err
}

// Close is Seller's.
func (s segmented) Close() error {
	errs := []error{s.sale.Close(context.Background())}
	for _, c := range s.closers {
		errs = append(errs, c())
	}
	return errors.Join(append(errs, s.stock.Close())...)
}

// entries is the observer that tells when a sale has obtained the lock: here no segment is ever sold out, so it does so once.
type entries struct{}

// Follow is service.Observer's.
func (entries) Follow(ctx context.Context, _, _ string) context.Context { return ctx }

// Observe is service.Observer's.
func (entries) Observe(ctx context.Context, seen service.SaleEvent) {
	if entered, is := ctx.Value(entries{}).(func()); is && seen.Moment == service.Obtains {
		entered()
	}
}
