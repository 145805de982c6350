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

// segmentedSeller is a sale in one of several segments of the stock: the shop's own.
type segmentedSeller struct {
	sale *service.Sale
	*stock
	closers []func() error
}

func newSegmented(row strategy.Strategy, parts strategy.Parts, stock *stock, closers ...func() error) segmentedSeller {
	return segmentedSeller{
		stock: stock, closers: closers,
		sale: &service.Sale{
			Run: history.Run{ID: Run}, Segments: service.SegmentLocks(row, parts, defaultSegments), Stock: uncancelled{stock.Store}, Clock: parts.Clock,
			Log: slog.New(slog.DiscardHandler), Update: row.Update, Observers: service.Observers{entryObserver{}},
			Backoff: service.Backoff{MaxDuration: parts.WaitTimeout},
		},
	}
}

// Sell is Seller's.
func (s segmentedSeller) Sell(ctx context.Context, entered func()) (sold bool, err error) {
	saleCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, cancel)
	enterOnce := func() {
		if stop() { // else the sale is about to be told that it waits no more
			entered()
		}
	}
	id := rand.Text()
	_, err = s.sale.Sell(context.WithValue(saleCtx, entryObserver{}, enterOnce), id, lock.Owner(id))
	return err == nil, err
}

// Close is Seller's.
func (s segmentedSeller) Close() error {
	errs := []error{s.sale.Close(context.Background())}
	for _, c := range s.closers {
		errs = append(errs, c())
	}
	return errors.Join(append(errs, s.stock.Close())...)
}

// entryObserver is the observer that tells when a sale has obtained the lock: here no segment is ever sold out, so it does so once.
type entryObserver struct{}

// Follow is service.Observer's.
func (entryObserver) Follow(ctx context.Context, _, _ string) context.Context { return ctx }

// Observe is service.Observer's.
func (entryObserver) Observe(ctx context.Context, event service.SaleEvent) {
	if entered, ok := ctx.Value(entryObserver{}).(func()); ok && event.Moment == service.Obtains {
		entered()
	}
}
