package service_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/contrast"
	"lockstep/internal/service"
	"lockstep/internal/service/history"
)

// segmentedStock is a stock in memory that is divided into segments.
type segmentedStock struct {
	service.Stock
	slow time.Duration // duration of a read

	mu   sync.Mutex
	left []int64
	asks []int // segments that were read, in order
}

func (s *segmentedStock) Read(ctx context.Context, order history.Order) (int64, error) {
	if err := lock.Sleep(ctx, lock.SystemClock{}, s.slow); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asks = append(s.asks, order.Segment)
	return s.left[order.Segment-1], nil
}

func (s *segmentedStock) Write(_ context.Context, order history.Order) (history.Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if order.SegmentCount != len(s.left) || s.left[order.Segment-1] != order.Before {
		return order, fmt.Errorf("segment %d of %d: %d, and not %d", order.Segment, order.SegmentCount, s.left[order.Segment-1], order.Before)
	}
	s.left[order.Segment-1] = order.After
	return order, nil
}

// newSegmentedSale returns a sale from a segmented stock. Without locks, each segment gets a correct one.
func newSegmentedSale(from *segmentedStock, locks ...lock.Locker) *service.Sale {
	if locks == nil {
		for range from.left {
			locks = append(locks, contrast.NewLocal(lock.Options{Clock: lock.SystemClock{}, WaitTimeout: time.Minute}))
		}
	}
	return &service.Sale{
		Segments: locks, Stock: from, Clock: lock.SystemClock{}, Log: slog.New(slog.DiscardHandler),
		Backoff: service.Backoff{MaxDuration: time.Minute},
	}
}

// Every piece is sold once, whichever segment it is in; then the stock is sold out. The order id determines the segment in which a sale
// begins.
func TestSegmentedSellsWholeStock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		from := &segmentedStock{left: []int64{3, 0, 5, 1}, slow: time.Millisecond}
		sale := newSegmentedSale(from)
		sold, refused := make(chan service.Receipt, 20), make(chan error, 20)
		for i := range 20 {
			go func() {
				receipt, err := sale.Sell(t.Context(), fmt.Sprint("order ", i), lock.Owner(strconv.Itoa(i)))
				if err != nil {
					refused <- err
					return
				}
				sold <- receipt
			}()
		}
		time.Sleep(time.Minute) // virtual
		synctest.Wait()
		if len(sold) != 9 || len(refused) != 11 || slices.Max(from.left) != 0 {
			t.Errorf("%d sold, %d refused, %v left; want 9, 11, and nothing", len(sold), len(refused), from.left)
		}
		for range len(refused) {
			if err := <-refused; !errors.Is(err, service.ErrSoldOut) {
				t.Error(err)
			}
		}
		from.asks = nil
		for range 2 {
			if _, err := sale.Sell(t.Context(), "one", lock.Owner("one")); !errors.Is(err, service.ErrSoldOut) {
				t.Error(err)
			}
		}
		if a := from.asks; len(a) != 8 || !slices.Equal(a[:4], a[4:]) || a[1] != a[0]%4+1 || a[2] != a[1]%4+1 || a[3] != a[2]%4+1 {
			t.Errorf("segments read: %v; want each once, in a row, and the same again", from.asks)
		}
	})
}

// The waits in sold-out segments count towards the wait timeout: a sale that has searched for so long fails with ErrTimeout, not with
// ErrSoldOut.
func TestSegmentedWaitIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sale := newSegmentedSale(&segmentedStock{left: []int64{0, 0, 0, 0}, slow: 40 * time.Second})
		began := time.Now()
		_, err := sale.Sell(t.Context(), "one", lock.Owner("one"))
		if !errors.Is(err, lock.ErrTimeout) || errors.Is(err, service.ErrSoldOut) || time.Since(began) != 80*time.Second {
			t.Errorf("%v after %v; want ErrTimeout after two of four segments", err, time.Since(began))
		}
	})
}

// closableLock is a lock that counts its Close calls.
type closableLock struct {
	lock.Locker
	closed *int
	fails  error
}

func (c closableLock) Close(context.Context) error { *c.closed++; return c.fails }

func TestSegmentedClosesAllLocks(t *testing.T) {
	var closed int
	next := closableLock{closed: &closed}
	sale := newSegmentedSale(&segmentedStock{}, closableLock{closed: &closed, fails: lock.ErrUnavailable}, next, next)
	if err := sale.Close(t.Context()); closed != 3 || !errors.Is(err, lock.ErrUnavailable) {
		t.Errorf("%d closed, %v; want all, and the error of the first", closed, err)
	}
}
