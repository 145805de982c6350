package service

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/service/history"
)

// keeper is a lock that keeps something between sales. It writes down what happens to it.
type keeper struct {
	lock.Locker
	name   string // of the process that it competes as
	events *[]string
	during func() // what happens while it is closed
	fails  error
}

func (k *keeper) Lock(ctx context.Context, _ string) (*lock.Lease, error) {
	*k.events = append(*k.events, k.name+" locks")
	return lock.NewLease(ctx, lock.SystemClock{}, 0, func(context.Context) error {
		*k.events = append(*k.events, k.name+" unlocks")
		return nil
	}), nil
}

func (k *keeper) Close(ctx context.Context) error {
	if ctx.Err() != nil {
		*k.events = append(*k.events, "too late for "+k.name)
	}
	*k.events = append(*k.events, "close "+k.name)
	if k.during != nil {
		k.during()
	}
	return k.fails
}

// shopOfKeepers is a shop whose locks are keepers, and what happens to them.
func shopOfKeepers() (*Shop, *[]string) {
	events := &[]string{}
	shop := &Shop{Clock: lock.SystemClock{}, Log: slog.New(slog.DiscardHandler), sales: map[string]*session{}}
	shop.use(Settings{
		Lock: strategy.Parts{Options: lock.Options{Process: "p", WaitTimeout: time.Minute}},
		Strategies: map[string]strategy.Strategy{"v11": {New: func(parts strategy.Parts) lock.Locker {
			*events = append(*events, "make "+parts.Process)
			return &keeper{name: parts.Process, events: events}
		}}},
	})
	return shop, events
}

func begin(t *testing.T, shop *Shop, sale, run string) lock.Locker {
	t.Helper()
	shop.asks(sale)
	begun, err := shop.begins(t.Context(), sale, history.Run{ID: run, Lock: "v11"})
	if err != nil {
		t.Fatal(err)
	}
	return begun.Locker
}

func expect(t *testing.T, events *[]string, want ...string) {
	t.Helper()
	if !slices.Equal(*events, want) {
		t.Fatalf("%q; want %q", strings.Join(*events, ", "), strings.Join(want, ", "))
	}
}

// While sales of two runs are in one process, their locks compete as two processes do: a lock knows the process that has it by its name,
// and would take the other run's lock for its own.
func TestEachRunHasALockOfItsOwn(t *testing.T) {
	shop, events := shopOfKeepers()
	first, again, second := begin(t, shop, "1a", "first"), begin(t, shop, "1b", "first"), begin(t, shop, "2", "second")
	if first != again || first == second {
		t.Error("want one lock for the sales of a run, and another for those of the next")
	}
	expect(t, events, "make p", "make p.1")
	shop.ends(t.Context(), "1a")
	shop.ends(t.Context(), "1b")
	third := begin(t, shop, "3", "third") // the first one's name is free again
	shop.ends(t.Context(), "3")
	shop.ends(t.Context(), "2")
	if begin(t, shop, "4", "third") != third {
		t.Error("the lock of the run that is on is made anew though nobody used it for a moment")
	}
	expect(t, events, "make p", "make p.1", "close p", "make p", "close p.1")
	if _, err := shop.begins(t.Context(), "5", history.Run{ID: "fourth", Lock: "v42"}); err == nil {
		t.Error("a lock that this replica does not know was made")
	}
}

func TestALockIsClosedOnceAfterTheLastSaleOfItsRun(t *testing.T) {
	shop, events := shopOfKeepers()
	begin(t, shop, "1a", "first")
	begin(t, shop, "1b", "first")
	shop.ends(t.Context(), "1a")
	shop.saw(history.Run{ID: "second"})
	shop.closeUnused(t.Context())
	expect(t, events, "make p") // 1b still uses it
	left, leave := context.WithCancel(t.Context())
	leave()
	shop.ends(left, "1b") // a buyer who went away does not cut the closing off
	shop.closeUnused(t.Context())
	expect(t, events, "make p", "close p")
	if len(shop.sessions) != 0 {
		t.Errorf("%d locks are still known", len(shop.sessions))
	}
}

// Sales of several runs come and go together: each lock is closed once, when its run is over and its last sale has ended, and not before.
func TestLocksOfRunsThatOverlap(t *testing.T) {
	var mu sync.Mutex
	inUse, closed := map[*keeper]int{}, map[*keeper]int{}
	shop := &Shop{Clock: lock.SystemClock{}, Log: slog.New(slog.DiscardHandler), sales: map[string]*session{}}
	shop.use(Settings{Strategies: map[string]strategy.Strategy{"v11": {New: func(strategy.Parts) lock.Locker {
		k := &keeper{events: &[]string{}}
		k.during = func() {
			mu.Lock()
			defer mu.Unlock()
			if closed[k]++; inUse[k] > 0 {
				t.Error("a lock is closed while a sale uses it")
			}
		}
		return k
	}}}})
	const runs, buyers, sales = 5, 8, 50
	var all sync.WaitGroup
	for buyer := range buyers {
		all.Go(func() {
			for sale := range sales {
				id := fmt.Sprint(buyer, "/", sale)
				k, is := begin(t, shop, id, fmt.Sprint("run ", sale*runs/sales)).(*keeper)
				if !is {
					t.Error("no keeper")
				}
				mu.Lock()
				inUse[k]++
				mu.Unlock()
				runtime.Gosched()
				mu.Lock()
				inUse[k]--
				mu.Unlock()
				shop.ends(t.Context(), id)
			}
		})
	}
	all.Wait()
	shop.use(shop.current())
	shop.closeUnused(t.Context())
	if len(inUse) < runs || len(closed) != len(inUse) || len(shop.sessions) != 0 || len(shop.sales) != 0 {
		t.Errorf("%d locks, %d closed; %d sessions and %d sales are left", len(inUse), len(closed), len(shop.sessions), len(shop.sales))
	}
	for _, times := range closed {
		if times != 1 {
			t.Errorf("a lock was closed %d times", times)
		}
	}
}

// A lock may keep the key from others: the first sale of the next run, which another replica began, does not wait for it.
func TestTheFirstSaleOfARunClosesTheLockBefore(t *testing.T) {
	shop, events := shopOfKeepers()
	begin(t, shop, "1", "first")
	shop.ends(t.Context(), "1")
	begin(t, shop, "2", "second")
	expect(t, events, "make p", "make p.1", "close p")
}

// A lock that could not be closed is left to its expiry, not closed again and again.
func TestALockThatCannotBeClosed(t *testing.T) {
	shop, events := shopOfKeepers()
	begin(t, shop, "1", "first").(*keeper).fails = lock.ErrUnavailable
	shop.ends(t.Context(), "1")
	shop.saw(history.Run{ID: "second"})
	shop.closeUnused(t.Context())
	shop.closeUnused(t.Context())
	expect(t, events, "make p", "close p")
}

// While a lock is closed, nobody closes it again, and no sale gets it nor its name.
func TestALockIsNotUsedWhileItIsClosed(t *testing.T) {
	shop, events := shopOfKeepers()
	begin(t, shop, "1", "run").(*keeper).during = func() {
		shop.closeUnused(t.Context())
		begin(t, shop, "2", "run")
	}
	shop.use(shop.current())
	shop.ends(t.Context(), "1")
	expect(t, events, "make p", "close p", "make p.1")
}

func TestALockOfARunThatComesBackWhileItIsClosed(t *testing.T) {
	shop, events := shopOfKeepers()
	begin(t, shop, "1", "first").(*keeper).during = func() { begin(t, shop, "2", "first") }
	shop.ends(t.Context(), "1")
	shop.saw(history.Run{ID: "second"})
	shop.closeUnused(t.Context())
	expect(t, events, "make p", "close p", "make p.1")
}

// Other settings make other locks, in the same run too.
func TestALockOfOtherSettingsIsClosed(t *testing.T) {
	shop, events := shopOfKeepers()
	begin(t, shop, "1", "run")
	shop.use(shop.current())
	begin(t, shop, "2", "run")
	shop.ends(t.Context(), "1")
	expect(t, events, "make p", "make p.1", "close p")
}

// ledger is one in which another replica may have begun a run.
type ledger struct {
	Ledger
	run    history.Run
	during func() // what happens while the run is read
	events *[]string
}

func (l *ledger) Beat(ctx context.Context, _ func(string) bool) (history.Run, int64, error) {
	run, err := l.Run(ctx)
	return run, 0, err
}
func (l *ledger) Enter(context.Context, string) (history.Run, error) { return l.run, nil }
func (l *ledger) Leave(_ context.Context, sale string) error         { return l.event(sale + " leaves") }
func (l *ledger) Start(_ context.Context, _, next history.Run) error {
	l.run = next
	return l.event("next run")
}
func (l *ledger) Quit(context.Context) error { return l.event("quit") }
func (l *ledger) event(text string) error    { *l.events = append(*l.events, text); return nil }
func (l *ledger) Run(context.Context) (history.Run, error) {
	run := l.run
	if l.during != nil {
		l.during()
	}
	return run, nil
}

func TestALockIsClosedWithTheShop(t *testing.T) {
	shop, events := shopOfKeepers()
	shop.Ledger = &ledger{events: events}
	begin(t, shop, "1", "run")
	shop.ends(t.Context(), "1")
	if err := shop.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(t, events, "make p", "close p", "quit")
}

func TestAHeartbeatClosesTheLockOfARunThatAnotherReplicaEnded(t *testing.T) {
	shop, events := shopOfKeepers()
	book := &ledger{run: history.Run{ID: "first", Lock: "v11"}}
	shop.Ledger = book
	begin(t, shop, "1", "first")
	shop.ends(t.Context(), "1")
	beat := func() {
		t.Helper()
		if err := shop.beat(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	beat()
	book.run = history.Run{} // redis came back empty: there is no run
	beat()
	expect(t, events, "make p")
	if shop.last().ID != "first" {
		t.Error("the lock that was on is forgotten")
	}
	book.run = history.Run{ID: "second", Lock: "v11"}
	beat()
	expect(t, events, "make p", "close p")
}

// The reply to a heartbeat's look at the run may come after a sale has seen the next run.
func TestALateHeartbeatDoesNotBringARunBack(t *testing.T) {
	shop, events := shopOfKeepers()
	book := &ledger{run: history.Run{ID: "second", Lock: "v11"}, during: func() {
		begin(t, shop, "3", "third")
		shop.ends(t.Context(), "3")
	}}
	shop.Ledger = book
	begin(t, shop, "1", "first")
	shop.ends(t.Context(), "1")
	if err := shop.beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(t, events, "make p", "make p.1", "close p")
	if last := shop.last().ID; last != "third" {
		t.Errorf("the run that is on is %q; want third", last)
	}
}

// A heartbeat comes every second, whether there are sales or not.
func TestAReplicaWithoutSalesClosesTheLockOfARunThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop, events := shopOfKeepers()
		book := &ledger{run: history.Run{ID: "first", Lock: "v11"}}
		shop.Ledger = book
		begin(t, shop, "1", "first")
		shop.ends(t.Context(), "1")
		book.run.ID = "second"
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Second, stop)
		shop.Live(ctx)
		expect(t, events, "make p", "close p")
	})
}

// plenty is a stock of which one piece more is always left.
type plenty struct{ Stock }

func (plenty) Read(context.Context, history.Order) (int64, error) { return 1, nil }
func (plenty) Write(context.Context, history.Order) error         { return nil }

// door is one that writes down when it opens.
type door struct {
	lock.Locker
	events *[]string
}

func (d door) Lock(ctx context.Context, _ string) (*lock.Lease, error) {
	return lock.NewLease(ctx, lock.SystemClock{}, 0, func(context.Context) error {
		*d.events = append(*d.events, "door opens")
		return nil
	}), nil
}

func TestALockIsClosedBeforeTheDoorOpens(t *testing.T) {
	shop, events := shopOfKeepers()
	shop.Stock, shop.Ledger, shop.Door = plenty{}, &ledger{run: history.Run{ID: "first", Lock: "v11"}, events: events}, door{events: events}
	shop.NewID = func() string { return "second" }
	if _, err := shop.Sell(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	if err := shop.SetLock(t.Context(), "v1"); err != nil {
		t.Fatal(err)
	}
	expect(t, events, "make p", "p locks", "p unlocks", "1 leaves", "next run", "close p", "door opens")
}
