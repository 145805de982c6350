package contestants

import (
	"context"
	"errors"
)

// lockedSeller sells under a lock: lock, read, write, unlock.
type lockedSeller struct {
	lock  func(context.Context) (lease, error)
	stock *stock
	close func() error
}

// lease is a held lock.
type lease struct {
	token  int64 // fencing token; 0: none
	unlock func(context.Context) error
}

// Sell implements Seller.
func (l lockedSeller) Sell(ctx context.Context, entered func()) (sold bool, err error) {
	held, err := l.lock(ctx)
	if err != nil {
		return false, err
	}
	entered()
	ctx = context.WithoutCancel(ctx)
	defer func() { err = errors.Join(err, held.unlock(ctx)) }()
	if err := l.stock.take(ctx, held.token); err != nil {
		return false, err
	}
	return true, nil
}

// Close implements Seller.
func (l lockedSeller) Close() error { return errors.Join(l.close(), l.stock.Close()) }

// openLimit returns a seller whose lock costs nothing and excludes nobody.
func openLimit(env Env) (Seller, error) {
	nothing := func(context.Context) error { return nil }
	return lockedSeller{
		lock:  func(context.Context) (lease, error) { return lease{unlock: nothing}, nil },
		stock: openStock(env),
		close: func() error { return nil },
	}, nil
}
