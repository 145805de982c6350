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

// segmentedSeller sells in one of several segments of the stock, by the sale of package service.
type segmentedSeller struct {
	sale *service.Sale
	*stock
	closers []func() error
}

func newSegmented(row strategy.Strategy, parts strategy.Parts, stock *stock, closers ...func() error) segmentedSeller {
	return segmentedSeller{
		stock: stock, closers: closers,
		sale: &service.Sale{
			Run: history.Run{ID: Run}, Segments: service.NewSegmentLocks(row, parts, defaultSegments),
			Stock: uncancelled{stock.Store}, Clock: parts.Clock,
			Log: slog.New(slog.DiscardHandler), Update: row.Update, Observers: service.Observers{entryObserver{}},
			Backoff: service.Backoff{MaxDuration: parts.WaitTimeout},
		},
	}
}

// Sell implements Seller.
func (s segmentedSeller) Sell(ctx context.Context, entered func()) (sold bool, err error) {
	saleCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, cancel)
	enterOnce := func() {
		if stop() { // otherwise ctx has ended, and the sale is being cancelled
			entered()
		}
	}
	id := rand.Text()
	_, err = s.sale.Sell(context.WithValue(saleCtx, entryObserver{}, enterOnce), id, lock.Owner(id))
	return err == nil, err
}

// Close implements Seller.
func (s segmentedSeller) Close() error {
	errs := []error{s.sale.Close(context.Background())}
	for _, c := range s.closers {
		errs = append(errs, c())
	}
	return errors.Join(append(errs, s.stock.Close())...)
}

// entryObserver is an observer that calls the function in a sale's context when the sale has obtained the lock. No segment is ever sold
// out here, so that happens once.
type entryObserver struct{}

// Follow implements service.Observer.
func (entryObserver) Follow(ctx context.Context, _, _ string) context.Context { return ctx }

// Observe implements service.Observer.
func (entryObserver) Observe(ctx context.Context, event service.SaleEvent) {
	if entered, ok := ctx.Value(entryObserver{}).(func()); ok && event.Moment == service.Obtains {
		entered()
	}
}
