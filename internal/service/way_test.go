package service_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/contrast"
	"lockstep/internal/history"
	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// contested is a stock that somebody else always comes first to.
type contested struct {
	service.Stock
	tries int
}

func (c *contested) Watch(context.Context, func(service.Stock) error) error {
	c.tries++
	return service.ErrConflict
}

type observer struct{ conflicts int }

func (*observer) Waits(string, int)            {}
func (*observer) Waited(string, time.Duration) {}
func (*observer) Held(string, time.Duration)   {}
func (o *observer) Conflicted(string)          { o.conflicts++ }

func TestAWatchedSaleTriesAgainForABoundedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stock, seen := &contested{}, &observer{}
		var pauses []int64
		sale := service.Sale{
			Locker: contrast.NewNone(lock.Options{Clock: lock.SystemClock{}}), Stock: stock, Clock: lock.SystemClock{},
			Log: slog.New(slog.DiscardHandler), Watch: seen, Way: service.Watched,
			Retry: service.Retry{
				Pause: 20 * time.Millisecond, Within: 30 * time.Second, Clock: lock.SystemClock{},
				Rand: func(n int64) int64 { pauses = append(pauses, n); return n - 1 },
			},
		}
		began := time.Now()
		_, err := sale.Sell(t.Context(), history.Run{}, "one")
		if !errors.Is(err, service.ErrConflict) || !errors.Is(err, lock.ErrTimeout) || time.Since(began) != 30*time.Second {
			t.Errorf("%v after %v; want a timeout after 30s", err, time.Since(began))
		}
		if stock.tries < 30 || stock.tries > 40 || seen.conflicts != stock.tries {
			t.Errorf("it tried %d times, and counted %d; want pauses that double up to a second", stock.tries, seen.conflicts)
		}
		if first, last := time.Duration(pauses[0]), time.Duration(pauses[len(pauses)-1]); first != 20*time.Millisecond || last != time.Second {
			t.Errorf("the pauses grow from %v to %v", first, last)
		}

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := sale.Sell(ctx, history.Run{}, "two"); !errors.Is(err, lock.ErrCancelled) {
			t.Errorf("a buyer who went away: %v; want ErrCancelled", err)
		}
	})
}
