package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"lockstep/internal/cli"
	"lockstep/internal/test/suite"
)

const (
	patience     = time.Minute           // longest wait for an event, on a busy machine, too
	pollInterval = 50 * time.Millisecond // pause between two evaluations of a condition
)

// runAsLockstep is an environment variable that makes the test binary run the command line, for the replicas of a cluster.
const runAsLockstep = "RUN_AS_LOCKSTEP"

// chrome is the browser that all tests share. It is opened by the first one.
var chrome struct {
	once  sync.Once
	ctx   context.Context //nolint:containedctx // a tab is a context
	close func()
	err   error
}

func TestMain(m *testing.M) {
	ofTests := len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "-test.")
	if os.Getenv(runAsLockstep) != "" && !ofTests {
		os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr))
	}
	if err := os.Setenv(runAsLockstep, "1"); err != nil {
		panic(err)
	}
	code := m.Run()
	if chrome.close != nil {
		chrome.close()
	}
	os.Exit(code)
}

// needsChrome skips the test where Chromium is not installed. Tests call it before they start a server.
func needsChrome(t *testing.T) {
	t.Helper()
	suite.Needs(t, "chromium")
}

// openChrome returns the context of the browser, which it opens at its first call.
func openChrome(t *testing.T) context.Context {
	t.Helper()
	chrome.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"), chromedp.NoSandbox)
		allocator, end := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, leave := chromedp.NewContext(allocator)
		chrome.ctx, chrome.close = ctx, func() { leave(); end() }
		chrome.err = chromedp.Do(ctx)
	})
	if chrome.err != nil {
		t.Fatal("chromium: ", chrome.err)
	}
	return chrome.ctx
}

// serve runs the server with these arguments until the test ends, on free ports, and returns the URL that its first line has.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	needsChrome(t)
	reader, writer := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended, started := make(chan int, 1), make(chan string, 1)
	var log strings.Builder
	go func() {
		code := cli.Run(ctx, append(args, "--server.addr", "127.0.0.1:0", "--redis.embedded_addr", "127.0.0.1:0"), writer, &log)
		_ = writer.Close()
		ended <- code
	}()
	go func() {
		text := make([]byte, 4096)
		n, _ := reader.Read(text)
		started <- regexp.MustCompile(`http://[^ \n]+`).FindString(string(text[:n]))
		_, _ = io.Copy(io.Discard, reader)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		if t.Failed() {
			t.Log(log.String())
		}
	})
	select {
	case url := <-started:
		if url == "" {
			t.Fatal("the first line of the server has no URL")
		}
		return url
	case <-time.After(patience):
		t.Fatal("the server did not start")
		return ""
	}
}

// page is a tab with a storage of its own, as in a new browser.
type page struct {
	t       *testing.T
	ctx     context.Context //nolint:containedctx // a tab is a context
	browser browser
	url     string

	visits int

	mu      sync.Mutex
	errors  []string
	allowed []string // texts of errors that do not fail the test
}

// browser is the interface to a tab of a browser.
type browser interface {
	load(ctx context.Context, url string) error
	size(ctx context.Context, width, height int64) error
	evaluate(ctx context.Context, expression string, into any) error
}

// open opens a URL of the page, such as http://127.0.0.1:8080/#/locks, in Chromium.
func open(t *testing.T, url string) *page {
	t.Helper()
	p := newPage(t)
	ctx, leave := chromedp.NewContext(openChrome(t), chromedp.WithNewBrowserContext(), chromedp.WithListener(p.collectError))
	t.Cleanup(leave)
	if err := chromedp.Do(ctx); err != nil { // The tab is closed when this context ends.
		t.Fatal("opening a tab: ", err)
	}
	p.ctx, p.browser = ctx, chromium{}
	call(p, log.Enable, cdp.Empty{})
	p.begin(url)
	return p
}

// newPage returns a page without a tab. At its end, the test fails for each error that the console has shown.
func newPage(t *testing.T) *page {
	p := &page{t: t, ctx: t.Context()}
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, text := range p.errors {
			t.Error("the console: ", text)
		}
	})
	return p
}

// begin loads a URL of the page for the first time, in a window of the usual size.
func (p *page) begin(url string) {
	p.t.Helper()
	server, address, _ := strings.Cut(url, "/#")
	p.url = server
	p.size(1280, 900)
	p.visit("#" + address)
}

// collectError adds the error that an event of the tab reports.
func (p *page) collectError(event any) {
	text := ""
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		text = e.ExceptionDetails.Text
		if e.ExceptionDetails.Exception != nil {
			text += " " + e.ExceptionDetails.Exception.Description
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" && len(e.Args) > 0 {
			text = string(e.Args[0].Value)
		}
	case *log.EventEntryAdded:
		if e.Entry.Level == "error" {
			text = e.Entry.Text + " " + e.Entry.URL
		}
	}
	p.addError(text)
}

// addError adds an error of the console, unless it is allowed.
func (p *page) addError(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, allowed := range p.allowed {
		if strings.Contains(text, allowed) {
			return
		}
	}
	if text != "" {
		p.errors = append(p.errors, text)
	}
}

func call[P, R any](p *page, command cdp.Command[P, R], params P) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	}))
}

func (p *page) do(steps ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	p.withTimeout(func(ctx context.Context) error { return chromedp.Do(ctx, steps...) })
}

// chromium controls the tab of a context.
type chromium struct{}

func (chromium) load(ctx context.Context, url string) error {
	return chromedp.Do(ctx, chromedp.Navigate(url))
}

func (chromium) size(ctx context.Context, width, height int64) error {
	return chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetDeviceMetricsOverride,
			emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1})
		return err
	}))
}

func (chromium) evaluate(ctx context.Context, expression string, into any) error {
	value, err := chromedp.Run(ctx, chromedp.Evaluate[json.RawMessage](expression, chromedp.EvalAwaitPromise))
	if err != nil || len(value) == 0 { // undefined
		return err
	}
	return json.Unmarshal(value, into)
}

// size sets the size of the window.
func (p *page) size(width, height int64) {
	p.t.Helper()
	p.withTimeout(func(ctx context.Context) error { return p.browser.size(ctx, width, height) })
}

// withTimeout calls do with a context that ends after patience. An error fails the test.
func (p *page) withTimeout(do func(ctx context.Context) error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := do(ctx); err != nil {
		p.t.Fatal(err)
	}
}

// visit reloads the page at an address.
func (p *page) visit(address string) {
	p.t.Helper()
	p.visits++
	url := fmt.Sprintf("%s/?lang=en&visit=%d%s", p.url, p.visits, address)
	p.withTimeout(func(ctx context.Context) error { return p.browser.load(ctx, url) })
	p.waitUntil("the page is drawn", `!!document.querySelector("main > *")`)
}

// waitUntilStill scrolls to an element until its position no longer changes, because a view that is drawn above it would move it away from
// under a click. It gives up after a second, because some elements always move.
const waitUntilStill = `new Promise(stays => {
	const look = (was, left) => {
		const e = document.querySelector(%q);
		e?.scrollIntoView({block: "center"});
		const is = JSON.stringify(e?.getBoundingClientRect());
		is === was || !left ? stays(true) : setTimeout(look, 20, is, left - 1);
	};
	look("", 50);
})`

// click clicks on the first element that matches, once it exists and is enabled.
func (p *page) click(css string) {
	p.t.Helper()
	p.waitUntil("there is "+css, fmt.Sprintf(`(e => e && !e.disabled)(document.querySelector(%q))`, css))
	eval[bool](p, fmt.Sprintf(waitUntilStill, css))
	p.withTimeout(func(ctx context.Context) error {
		for {
			err := chromedp.Do(ctx, chromedp.Click(chromedp.CSS(css)))
			if replaced := new(cdproto.Error); !errors.As(err, &replaced) {
				return err
			} // The view was drawn anew after the element had been found, and before it was clicked on.
		}
	})
}

// keys maps the names of keys to what they send. Other keys are the text that they type.
var keys = map[string]string{
	"Enter": kb.Enter, "Tab": kb.Tab, "Space": " ", "Escape": kb.Escape, "Home": kb.Home, "End": kb.End,
	"ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight, "ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown,
}

// key presses keys one after the other.
func (p *page) key(names ...string) {
	p.t.Helper()
	for _, name := range names {
		if key, ok := keys[name]; ok {
			name = key
		}
		p.do(chromedp.KeyEvent(name))
	}
}

// eval returns the value of an expression in the page.
func eval[T any](p *page, expression string) (value T) {
	p.t.Helper()
	p.withTimeout(func(ctx context.Context) error {
		if err := p.browser.evaluate(ctx, expression, &value); err != nil {
			return fmt.Errorf("%s: %w", expression, err)
		}
		return nil
	})
	return value
}

// waitUntil waits until an expression is true.
func (p *page) waitUntil(what, expression string) {
	p.t.Helper()
	p.waitWithin(patience, what, expression)
}

func (p *page) waitWithin(limit time.Duration, what, expression string) {
	p.t.Helper()
	for end := time.Now().Add(limit); !eval[bool](p, "!!("+expression+")"); time.Sleep(pollInterval) {
		if time.Now().After(end) {
			p.t.Fatalf("not within %v: %s\n%s", limit, what, eval[string](p, `document.body.innerText.slice(0, 3000)`))
		}
	}
}

// waitForText waits until the page shows a text.
func (p *page) waitForText(text string) {
	p.t.Helper()
	p.waitUntil("the page shows "+text, fmt.Sprintf(`document.body.innerText.includes(%q)`, text))
}

// allowError keeps errors that contain a text from failing the test.
func (p *page) allowError(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowed = append(p.allowed, part)
}
