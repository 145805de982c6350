package cli

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"lockstep/internal/service/history"
	"lockstep/internal/shop/api"
	"lockstep/internal/test/redistest"
)

// muteProxy stands between a server and its Redis. It hands on every command. Once muted, it hands on no reply.
type muteProxy struct {
	addr    string
	trigger atomic.Pointer[string] // mutes it when a command contains it, once; nil: none does
	muted   atomic.Bool
	lost    atomic.Bool // the reply to that command was not handed on; what other connections lose meanwhile does not count
}

func newMuteProxy(t *testing.T, redis string) *muteProxy {
	t.Helper()
	listener, err := net.Listen("tcp", anyPort)
	if err != nil {
		t.Fatal(err)
	}
	p := &muteProxy{addr: listener.Addr().String()}
	var open sync.WaitGroup
	open.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", redis)
			if err != nil {
				client.Close()
				continue
			}
			var asked atomic.Bool // this connection sent the command that muted it
			open.Go(func() { p.hand(client, server, func(command []byte) bool { return p.sees(command, &asked) }) })
			open.Go(func() { p.hand(server, client, func([]byte) bool { return p.replies(&asked) }) })
		}
	})
	t.Cleanup(func() { listener.Close(); open.Wait() })
	return p
}

// hand hands on what passes, until either side ends.
func (*muteProxy) hand(from, to net.Conn, passes func([]byte) bool) {
	defer from.Close()
	defer to.Close()
	chunk := make([]byte, 64<<10)
	for {
		n, err := from.Read(chunk)
		if err != nil {
			return
		}
		if !passes(chunk[:n]) {
			continue
		}
		if _, err := to.Write(chunk[:n]); err != nil {
			return
		}
	}
}

func (p *muteProxy) sees(command []byte, asked *atomic.Bool) bool {
	if trigger := p.trigger.Load(); trigger != nil && !p.lost.Load() && bytes.Contains(command, []byte(*trigger)) {
		asked.Store(true)
		p.muted.Store(true)
	}
	return true
}

func (p *muteProxy) replies(asked *atomic.Bool) bool {
	if !p.muted.Load() {
		return true
	}
	if asked.Load() {
		p.lost.Store(true)
	}
	return false
}

// failedSale asks for a sale that must fail, and gives its status, its error and the header Retry-After.
func (s *testServer) failedSale() (status int, answer api.ErrorAnswer, retryAfter string) {
	s.t.Helper()
	response, err := http.Post(s.url()+"/inventory/sale", "", http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	decode(s.t, text, &answer)
	return response.StatusCode, answer, response.Header.Get("Retry-After")
}

// A sale whose write Redis does not answer may have been made: its buyer is told so first, whatever became of the lock, and where to
// look.
func TestAnUnansweredWriteIsUnknown(t *testing.T) {
	t.Parallel()
	together(t, []string{"v0", "v4", "v6", "v7", "v10", "v11", "atomic", "optimistic"}, func(t *testing.T, version string) {
		script := "Writes the stock"
		if version == "atomic" {
			script = "Takes one piece"
		}
		redis := redistest.Start(t)
		proxy := newMuteProxy(t, redis.Addr)
		s := start(t, "--redis.addrs", proxy.addr, "--lock.version", version, "--lock.ttl", "3s")
		proxy.trigger.Store(&script)
		outside := start(t, "--redis.addrs", redis.Addr)
		over := make(chan struct{})
		go func() {
			defer close(over)
			eventually(t, "the write has no reply, and the lock is lost", func() bool {
				return proxy.lost.Load() && outside.outside.Exists(t.Context(), "distributedLock").Val() == 0
			})
			proxy.muted.Store(false)
		}()
		status, answer, retryAfter := s.failedSale()
		<-over
		if status != 503 || answer.Error.Code != "outcome_unknown" || answer.Error.OrderID == "" || retryAfter != "" {
			t.Fatalf("%d %+v, Retry-After %q; want 503 outcome_unknown, an order's id, and no word of trying again", status, answer, retryAfter)
		}
		var order history.Order
		eventually(t, "the order is found", func() bool { return s.ask("GET", "/orders/"+answer.Error.OrderID, "", &order) == 200 })
		if order.ID != answer.Error.OrderID || order.Lock != version || order.After != 199 {
			t.Errorf("GET /orders: %+v", order)
		}
	})
}

// A sale that lost its lock before it wrote was not made, and says so.
func TestLockLostMeansNotSold(t *testing.T) {
	t.Parallel()
	together(t, []string{"v6", "v7", "v10", "v11"}, func(t *testing.T, version string) {
		redis := redistest.Start(t)
		proxy := newMuteProxy(t, redis.Addr)
		s := start(t, "--redis.addrs", proxy.addr, "--lock.version", version, "--lock.ttl", "1s")
		read := "get\r\n$9\r\ninventory"
		if version != "v6" {
			read = "Reads the stock"
		}
		proxy.trigger.Store(&read)
		outside := start(t, "--redis.addrs", redis.Addr)
		over := make(chan struct{})
		go func() {
			defer close(over)
			eventually(t, "the sale has no reply, and has lost its lock", func() bool {
				return proxy.lost.Load() && outside.outside.Exists(t.Context(), "distributedLock").Val() == 0
			})
			proxy.muted.Store(false)
		}()
		status, answer, _ := s.failedSale()
		if status != 503 || answer.Error.Code != "lock_lost" || answer.Error.OrderID == "" {
			t.Errorf("%d %+v; want 503 lock_lost", status, answer)
		}
		eventually(t, "the order is known not to be there", func() bool {
			var lookup api.ErrorAnswer
			return s.ask("GET", "/orders/"+answer.Error.OrderID, "", &lookup) == 404 && lookup.Error.Code == "no_order"
		})
		if run := outside.report(); run.Sold != 0 {
			t.Errorf("%+v; want nothing sold", run)
		}
	})
}

// A Redis that is out of memory refuses what is new, and takes back locks. (Not nested ones: to count down takes memory.)
func TestUnlockNeedsNoMemory(t *testing.T) {
	t.Parallel()
	together(t, []string{"v1", "v4", "v5", "v6", "v7", "v10"}, func(t *testing.T, version string) {
		s := start(t, "--redis.addrs", redistest.Start(t).Addr, "--lock.version", version, "--sale.think_time", "1s")
		holds := func() bool { return s.outside.Exists(t.Context(), "distributedLock").Val() == 1 }
		failed := make(chan string, 1)
		go func() {
			status, answer, _ := s.failedSale()
			failed <- http.StatusText(status) + " " + answer.Error.Code
		}()
		eventually(t, "the sale has the lock", holds)
		if err := s.outside.ConfigSet(t.Context(), "maxmemory", "1").Err(); err != nil {
			t.Fatal(err)
		}
		if got := <-failed; got != "Service Unavailable redis_unavailable" {
			t.Errorf("a sale without memory: %s", got)
		}
		if holds() {
			t.Error("the lock was left behind")
		}
		if err := s.outside.ConfigSet(t.Context(), "maxmemory", "0").Err(); err != nil {
			t.Fatal(err)
		}
		if status, code := s.sell(); status != 200 {
			t.Errorf("the next sale: %d %s", status, code)
		}
	})
}
