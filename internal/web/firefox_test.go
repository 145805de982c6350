//go:build long

package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/websocket"

	"lockstep/internal/test/suite"
)

// firefox is the only tab of a Firefox. It is controlled by WebDriver BiDi (https://w3c.github.io/webdriver-bidi/), the only protocol that
// Firefox has; chromedp implements that of Chromium.
type firefox struct {
	conn         *websocket.Conn
	tab          string
	collectError func(text string)

	mu    sync.Mutex
	asked int
	waits map[int]chan reply
}

// reply is a message of Firefox: the answer to a command, or an event.
type reply struct {
	ID      int
	Type    string // success, error or event
	Message string // of an error
	Result  json.RawMessage
	Params  struct{ Level, Text string } // of an entry in the console
}

// openFirefox opens a URL of the page in Firefox, as open does in Chromium.
func openFirefox(t *testing.T, url string) *page {
	t.Helper()
	suite.Needs(t, "firefox-esr")
	program := exec.Command("firefox-esr", "--headless", "--no-remote", "--profile", t.TempDir(), "--remote-debugging-port", "0",
		"--remote-allow-origins", "http://127.0.0.1")
	stderr, err := program.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	addresses := make(chan string)
	go func() {
		defer close(addresses)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if found := regexp.MustCompile(`WebDriver BiDi listening on (ws://\S+)`).FindStringSubmatch(lines.Text()); found != nil {
				addresses <- found[1]
			}
		}
	}()
	p := newPage(t)
	f := &firefox{collectError: p.addError, waits: map[int]chan reply{}}
	t.Cleanup(func() {
		if f.conn != nil {
			_ = f.ask(context.Background(), "browser.close", nil, nil)
		}
		_ = program.Process.Kill()
		for range addresses { // until it closes its standard error
		}
		_ = program.Wait()
	})
	select {
	case address := <-addresses:
		if f.conn, err = websocket.Dial(address+"/session", "", "http://127.0.0.1"); err != nil {
			t.Fatal("firefox: ", address, ": ", err)
		}
	case <-time.After(patience):
		t.Fatal("firefox did not start")
	}
	go f.listen()
	var contexts struct{ Contexts []struct{ Context string } }
	for _, command := range []struct {
		method string
		params any
		into   any
	}{
		{"session.new", map[string]any{"capabilities": map[string]any{}}, nil},
		{"session.subscribe", map[string]any{"events": []string{"log.entryAdded"}}, nil},
		{"browsingContext.getTree", nil, &contexts},
	} {
		if err := f.ask(p.ctx, command.method, command.params, command.into); err != nil {
			t.Fatal("firefox: ", err)
		}
	}
	f.tab = contexts.Contexts[0].Context
	p.browser = f
	p.begin(url)
	return p
}

// listen delivers the messages of Firefox until the connection ends.
func (f *firefox) listen() {
	for {
		var message reply
		err := websocket.JSON.Receive(f.conn, &message)
		f.mu.Lock()
		wait, isAnswer := f.waits[message.ID]
		switch {
		case err != nil:
			for _, wait := range f.waits {
				wait <- reply{Type: "error", Message: err.Error()}
			}
			f.waits = nil
		case isAnswer:
			wait <- message
			delete(f.waits, message.ID)
		case message.Params.Level == "error":
			f.collectError(message.Params.Text)
		}
		f.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// ask sends a command, and decodes its result into the value into, unless that is nil.
func (f *firefox) ask(ctx context.Context, method string, params, into any) error {
	if params == nil {
		params = struct{}{}
	}
	answer := make(chan reply, 1)
	f.mu.Lock()
	if f.waits == nil {
		f.mu.Unlock()
		return fmt.Errorf("%s: firefox has ended", method)
	}
	f.asked++
	id := f.asked
	f.waits[id] = answer
	f.mu.Unlock()
	if err := websocket.JSON.Send(f.conn, map[string]any{"id": id, "method": method, "params": params}); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case message := <-answer:
		if message.Type != "success" {
			return fmt.Errorf("%s: %s", method, message.Message)
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal(message.Result, into)
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", method, context.Cause(ctx))
	}
}

func (f *firefox) load(ctx context.Context, url string) error {
	return f.ask(ctx, "browsingContext.navigate", map[string]any{"context": f.tab, "url": url, "wait": "complete"}, nil)
}

func (f *firefox) size(ctx context.Context, width, height int64) error {
	return f.ask(ctx, "browsingContext.setViewport",
		map[string]any{"context": f.tab, "viewport": map[string]any{"width": width, "height": height}}, nil)
}

func (f *firefox) evaluate(ctx context.Context, expression string, into any) error {
	var out struct {
		Result           struct{ Value string }
		ExceptionDetails struct{ Text string }
	}
	err := f.ask(ctx, "script.evaluate", map[string]any{
		"expression": "(async () => JSON.stringify(await (" + expression + ")))()", "awaitPromise": true,
		"target": map[string]any{"context": f.tab},
	}, &out)
	if err == nil && out.ExceptionDetails.Text != "" {
		err = fmt.Errorf("%s", out.ExceptionDetails.Text)
	}
	if err != nil || out.Result.Value == "" { // undefined
		return err
	}
	return json.Unmarshal([]byte(out.Result.Value), into)
}
