package live_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/internal/api/route"
	"lockstep/internal/live"
	"lockstep/internal/witness"
)

// A returning watcher gets the frames that it has not seen, once; one that comes from another run gets all.
func TestReturningWatcherGetsNewFramesOnly(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v2")
	_, url := serveHub(t, shop, withLinger(patience))
	events := foreignDelete()
	half := slices.IndexFunc(events, func(e witness.Event) bool { return e.Kind == witness.KindEnds }) + 1
	shop.play(events[:half]...)
	first := openStream(t, url, "en", "")
	seen := first.readUntil("lanes", `"ended":"sold"`)
	first.close()
	shop.play(events[half:]...)
	second := openStream(t, url, "en", seen.id)
	second.readUntil("lanes", `"late","from":5000,"to":8001`)
	for _, f := range second.seen {
		if f.name == "run" && strings.Contains(f.data, `"fresh":true`) || f.name == "sections" && strings.Contains(f.data, `"sale":"A"`) ||
			slices.ContainsFunc(first.seen, func(old frame) bool { return old.id == f.id }) {
			t.Errorf("got frame %v again", f)
		}
	}
	third := openStream(t, url, "en", "other.7")
	third.readUntil("sections", "A")
	if third.seen[0].name != "run" {
		t.Errorf("got first frame %v, want run", third.seen[0])
	}
	if shop.followCalls != 1 {
		t.Errorf("got %d calls of Follow, want 1", shop.followCalls)
	}
}

// The shop is followed only while somebody watches, once for all watchers, and a little longer.
func TestShopIsFollowedOnlyWhileWatched(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v4")
	_, url := serveHub(t, shop, withLinger(10*time.Millisecond))
	counts := func() (follow, followed int) {
		shop.mu.Lock()
		defer shop.mu.Unlock()
		return shop.followCalls, shop.followers
	}
	if follow, _ := counts(); follow != 0 || shop.stateCalls != 0 {
		t.Fatal("the shop is followed without a watcher")
	}
	one, two := openStream(t, url, "en", ""), openStream(t, url, "zh", "")
	one.readUntil("run", "")
	two.readUntil("run", "")
	eventually(t, "the shop is followed", func() bool { _, followed := counts(); return followed == 1 })
	if follow, _ := counts(); follow != 1 {
		t.Errorf("two watchers: got %d calls of Follow, want 1", follow)
	}
	one.close()
	two.close()
	eventually(t, "the shop is followed no more", func() bool { _, followed := counts(); return followed == 0 })
	three := openStream(t, url, "en", "")
	three.readUntil("run", "")
}

// A watcher that does not read is dropped; the others get all frames.
func TestSlowWatcherIsDropped(t *testing.T) {
	t.Parallel()
	shop := newFakeShop("v4")
	hub, url := serveHub(t, shop, func(h *live.Hub) { h.WriteTimeout = 2 * time.Second }) // more than a busy machine delays the fast watcher
	fast := openStream(t, url, "en", "")
	fast.readUntil("run", "")
	dropped := make(chan struct{})
	slow := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(dropped)
		_ = (&live.Server{Hub: hub}).Routes()[0].Handle(w, r)
	}))
	slow.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetWriteBuffer(4096) // otherwise the system would buffer megabytes
		return ctx
	}
	slow.Start()
	defer slow.Close()
	conn, err := net.Dial("tcp", slow.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: shop\r\n\r\n") // the client never reads
	const sales = 3000                                       // overlapping sections: far more data than the system buffers
	s := newScript("one")
	for n := range sales {
		s.sale(fmt.Sprintf("r1#%d", n+1), n+1, n+1, n+201, 200)
	}
	events := witness.InOrder(s.events)
	late := time.After(patience)
	for going := true; going; {
		next := min(len(events), 4500)
		shop.play(events[:next]...)
		events = events[next:]
		select {
		case <-dropped:
			going = false
		case <-late:
			t.Fatal("the slow watcher was not dropped")
		case <-time.After(100 * time.Millisecond):
		}
	}
	fast.readUntil("sections", fmt.Sprintf(`"from":%d,`, sales-1))
}

// Invalid requests are refused with their codes.
func TestInvalidRequestsAreRefused(t *testing.T) {
	t.Parallel()
	_, url := serveHub(t, newFakeShop("v4"))
	for path, want := range map[string]string{
		"/live?lang=fr":           `400 {"error":{"code":"bad_request"`,
		"/live/pair?a=r1%231":     `400 {"error":{"code":"bad_request"`,
		"/live/pair?a=r1%231&b=x": `404 {"error":{"code":"no_sale"`,
		"/bursts/7":               `404 {"error":{"code":"no_burst"`,
		"/bursts":                 `200 []`,
	} {
		response, err := http.Get(url + path) //nolint:noctx // a test
		if err != nil {
			t.Fatal(err)
		}
		text, _ := bufio.NewReader(response.Body).ReadString('\n')
		response.Body.Close()
		if got := fmt.Sprint(response.StatusCode, " ", text); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// A server that shuts down takes no burst, and says why.
func TestClosedBurstsRefuse(t *testing.T) {
	t.Parallel()
	bursts := &live.Bursts{}
	bursts.Close()
	server := httptest.NewServer(route.Mux((&live.Server{Hub: &live.Hub{}, Bursts: bursts}).Routes()...))
	defer server.Close()
	response, err := http.Post(server.URL+"/bursts", "application/json", strings.NewReader(`{"n":1,"c":1}`)) //nolint:noctx // a test
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if got := fmt.Sprint(response.StatusCode, " ", string(text)); err != nil || !strings.HasPrefix(got, `503 {"error":{"code":"ending"`) {
		t.Errorf("got %s, %v, want 503 ending", got, err)
	}
}
