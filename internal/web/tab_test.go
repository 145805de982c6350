//go:build long

package web_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lockstep/internal/cli"
)

// site builds the page for a host of files, and serves it below a path as one would.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	needsChrome(t)
	dir := t.TempDir()
	var said strings.Builder
	if code := cli.Run(context.Background(), []string{"site", dir}, &said, &said); code != 0 {
		t.Fatalf("site: exit code %d\n%s", code, &said)
	}
	t.Log(said.String())
	host := http.NewServeMux()
	host.Handle("/a/class/", http.StripPrefix("/a/class/", http.FileServer(http.Dir(dir))))
	server := httptest.NewServer(host)
	t.Cleanup(server.Close)
	return server
}

// took says how long it takes until an expression is true.
func (p *page) took(what, expression string) {
	p.t.Helper()
	begun := time.Now()
	p.waitUntil(what, expression)
	p.t.Logf("%4d ms: %s", time.Since(begun).Milliseconds(), what)
}

// From a host of files, below a path: the seat, a hint, an oracle, a burst; then the same without a network.
func TestThePageInATab(t *testing.T) {
	host := site(t)
	p := open(t, host.URL+"/a/class/"+start)
	p.shows("In this tab: real lock code")
	p.played()
	p.waitUntil("the files are kept", `navigator.serviceWorker.controller`)
	host.CloseClientConnections()
	host.Close()
	p.played()
}

// played breaks v2 by hand, asks a hint and an oracle, and oversells v0.
func (p *page) played() {
	p.t.Helper()
	p.visit(start)
	p.took("the seat can be used", `document.querySelector(".moves [data-token]")`)
	for i, token := range strings.Fields("A:SET A:GET A:write expiry B:SET A:DEL") {
		begun := time.Now()
		p.press(token)
		p.steps(i + 1)
		p.t.Logf("%4d ms: %s", time.Since(begun).Milliseconds(), token)
	}
	p.shows("Solved in 6 steps: A removes B's lock")
	p.visit(start)
	p.waitUntil("the seat can be used", `document.querySelector(".moves [data-token]")`)
	p.key("h")
	p.took("a hint is shown", `document.querySelector(".hinted")`)
	p.visit(strings.Replace(start, "mode=break", "mode=oracle", 1))
	p.took("the oracle has spoken", `/\d+ states?/.test(document.querySelector("main").innerText)`)

	p.visit("#/")
	p.took("the shop is open", `document.querySelector("form select[name=lock]")?.options.length > 10`)
	eval[bool](p, `(select => (select.value = "v0", select.form.requestSubmit(), true))(document.querySelector("select[name=lock]"))`)
	p.waitUntil("v0 is in use", `document.querySelector("h1").innerText.startsWith("v0")`)
	p.key("B")
	p.took("the burst is over", `/200 buyers: \d+ sold/.test(document.body.innerText)`)
	p.shows("OVERSOLD")
}
