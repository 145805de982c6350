package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

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
	patience = time.Minute // for what must happen, also while others use the machine
	look     = 50 * time.Millisecond
)

// runAsLockstep in the environment makes this test's program the command itself, for a cluster's replicas.
const runAsLockstep = "RUN_AS_LOCKSTEP"

// chrome is the browser of all tests, and how it is opened.
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

// needsChrome skips the test where there is no browser. Whatever a page can be opened of asks so, before it starts.
func needsChrome(t *testing.T) {
	t.Helper()
	suite.Needs(t, "chromium")
}

// openChrome opens the browser.
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

// serve runs the command line until the test ends, on ports of its own, and gives the URL that its first line tells.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	needsChrome(t)
	reader, writer := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	ended, told := make(chan int, 1), make(chan string, 1)
	var log strings.Builder
	go func() {
		code := cli.Run(ctx, append(args, "--server.addr", "127.0.0.1:0", "--redis.embedded_addr", "127.0.0.1:0"), writer, &log)
		_ = writer.Close()
		ended <- code
	}()
	go func() {
		text := make([]byte, 4096)
		n, _ := reader.Read(text)
		told <- regexp.MustCompile(`http://[^ \n]+`).FindString(string(text[:n]))
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
	case url := <-told:
		if url == "" {
			t.Fatal("the server says no URL")
		}
		return url
	case <-time.After(patience):
		t.Fatal("the server does not start")
		return ""
	}
}

// page is a tab of its own, as if in a browser of its own: nothing is remembered from another.
type page struct {
	t       *testing.T
	ctx     context.Context //nolint:containedctx // a tab is a context
	browser browser
	url     string

	visits int

	mu     sync.Mutex
	errors []string
	mine   []string // what errors may contain
}

// browser is what a page needs of each browser.
type browser interface {
	load(ctx context.Context, url string) error
	size(ctx context.Context, width, height int64) error
	evaluate(ctx context.Context, expression string, into any) error
}

// open opens a URL of the page, such as http://127.0.0.1:8080/#/locks, in Chromium.
func open(t *testing.T, url string) *page {
	t.Helper()
	p := newPage(t)
	ctx, leave := chromedp.NewContext(openChrome(t), chromedp.WithNewBrowserContext(), chromedp.WithListener(p.hear))
	t.Cleanup(leave)
	if err := chromedp.Do(ctx); err != nil { // the tab lives as long as the context it is opened with
		t.Fatal("opening a tab: ", err)
	}
	p.ctx, p.browser = ctx, chromium{}
	call(p, log.Enable, cdp.Empty{})
	p.begin(url)
	return p
}

// newPage is a page that no browser has yet. Whatever the console says is wrong fails the test.
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

// begin loads the page for the first time.
func (p *page) begin(url string) {
	p.t.Helper()
	server, address, _ := strings.Cut(url, "/#")
	p.url = server
	p.size(1280, 900)
	p.visit("#" + address)
}

// hear collects what is wrong.
func (p *page) hear(event any) {
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
	p.wrong(text)
}

// wrong takes what the console says is wrong.
func (p *page) wrong(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, mine := range p.mine {
		if strings.Contains(text, mine) {
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
	p.within(func(ctx context.Context) error { return chromedp.Do(ctx, steps...) })
}

// chromium speaks to the tab that a context is of.
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

// size makes the window so large.
func (p *page) size(width, height int64) {
	p.t.Helper()
	p.within(func(ctx context.Context) error { return p.browser.size(ctx, width, height) })
}

// within does something in the time that there is for it.
func (p *page) within(do func(ctx context.Context) error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := do(ctx); err != nil {
		p.t.Fatal(err)
	}
}

// visit loads an address anew.
func (p *page) visit(address string) {
	p.t.Helper()
	p.visits++
	url := fmt.Sprintf("%s/?lang=en&visit=%d%s", p.url, p.visits, address)
	p.within(func(ctx context.Context) error { return p.browser.load(ctx, url) })
	p.waitUntil("the page is there", `!!document.querySelector("main > *")`)
}

// stays scrolls to an element until it stays where it is: what is drawn above it meanwhile moves it away from under a click. It gives up
// after a second, as some never stay.
const stays = `new Promise(stays => {
	const look = (was, left) => {
		const e = document.querySelector(%q);
		e?.scrollIntoView({block: "center"});
		const is = JSON.stringify(e?.getBoundingClientRect());
		is === was || !left ? stays(true) : setTimeout(look, 20, is, left - 1);
	};
	look("", 50);
})`

// click clicks on the first element, once it is there and not disabled.
func (p *page) click(css string) {
	p.t.Helper()
	p.waitUntil("there is "+css, fmt.Sprintf(`(e => e && !e.disabled)(document.querySelector(%q))`, css))
	eval[bool](p, fmt.Sprintf(stays, css))
	p.do(chromedp.Click(chromedp.CSS(css)))
}

// keys are those with a name; others are what they type.
var keys = map[string]string{
	"Enter": kb.Enter, "Tab": kb.Tab, "Space": " ", "Escape": kb.Escape, "Home": kb.Home, "End": kb.End,
	"ArrowLeft": kb.ArrowLeft, "ArrowRight": kb.ArrowRight, "ArrowUp": kb.ArrowUp, "ArrowDown": kb.ArrowDown,
}

// key presses keys, one after the other.
func (p *page) key(names ...string) {
	p.t.Helper()
	for _, name := range names {
		if key, named := keys[name]; named {
			name = key
		}
		p.do(chromedp.KeyEvent(name))
	}
}

// eval gives what an expression is.
func eval[T any](p *page, expression string) (value T) {
	p.t.Helper()
	p.within(func(ctx context.Context) error {
		if err := p.browser.evaluate(ctx, expression, &value); err != nil {
			return fmt.Errorf("%s: %w", expression, err)
		}
		return nil
	})
	return value
}

// waitUntil looks again and again whether an expression is true.
func (p *page) waitUntil(what, expression string) {
	p.t.Helper()
	p.waitWithin(patience, what, expression)
}

func (p *page) waitWithin(limit time.Duration, what, expression string) {
	p.t.Helper()
	for end := time.Now().Add(limit); !eval[bool](p, "!!("+expression+")"); time.Sleep(look) {
		if time.Now().After(end) {
			p.t.Fatalf("not within %v: %s\n%s", limit, what, eval[string](p, `document.body.innerText.slice(0, 3000)`))
		}
	}
}

// shows waits until the page shows a text.
func (p *page) shows(text string) {
	p.t.Helper()
	p.waitUntil("the page shows "+text, fmt.Sprintf(`document.body.innerText.includes(%q)`, text))
}

// expect lets the console say something that contains this.
func (p *page) expect(part string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mine = append(p.mine, part)
}
