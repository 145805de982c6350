package load

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"lockstep/internal/test/suite"
)

// listenWith answers whoever connects with a text, and gives its address.
func listenWith(t *testing.T, says string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 1024))
			_, _ = conn.Write([]byte(says))
			conn.Close()
		}
	}()
	return "http://" + listener.Addr().String()
}

func serveAnswer(t *testing.T, status int, body string) string {
	t.Helper()
	server := httptest.NewServer(answerWith(status, body))
	t.Cleanup(server.Close)
	return server.URL
}

func answerWith(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// Why no lockstep answers is named, and never by another cause.
func TestProbeNamesCause(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(answerWith(200, "hi"))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer secure.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	closed := listenWith(t, "")
	for _, c := range []struct {
		what, target, says string
		is                 error
	}{
		{"nobody", "http://" + suite.UnusedAddr(t), "nothing listens there", ErrNotListening},
		{"another program", serveAnswer(t, 200, "hello\x1b[31m"), `what answers there is no lockstep: 200 OK, "hello\x1b[31m"`, ErrNotLockstep},
		{"another's JSON", serveAnswer(t, 200, `{"service":"shop"}`), "what answers there is no lockstep: 200 OK", ErrNotLockstep},
		{"null", serveAnswer(t, 200, `null`), "what answers there is no lockstep: 200 OK", ErrNotLockstep},
		{"forbidden", serveAnswer(t, 403, "go away"), `what answers there is no lockstep: 403 Forbidden, "go away"`, ErrNotLockstep},
		{"a guard", serveAnswer(t, 403, `{"error":{"code":"forbidden_host","message":"no\u202e"}}`),
			`it answers 403 Forbidden: forbidden_host, "no\u202e"`, nil},
		{"endless", serveAnswer(t, 200, strings.Repeat("x", 2<<20)), "the answer is longer than 1048576 bytes", nil},
		{"silent", silent.URL, "no answer in time", context.DeadlineExceeded},
		{"hangs up", closed, "it closed the connection before the end of an answer", nil},
		{"not HTTP", listenWith(t, "-ERR \x1b]0;T\a\r\n"), `what it says is not HTTP: "malformed HTTP`, nil},
		{"odd headers", listenWith(t, "HTTP/1.1 200 OK\r\nx\x1b[31m\r\n\r\n"), `what it says is not HTTP: "malformed MIME header`, nil},
		{"no TLS", strings.Replace(serveAnswer(t, 200, "hi"), "http:", "https:", 1), "it does not speak TLS: try http://", nil},
		{"neither", strings.Replace(listenWith(t, "-ERR what is it\r\n"), "http:", "https:", 1), "it does not speak TLS", nil},
		{"certificate", secure.URL, "its certificate is not trusted: ", nil},
		{"TLS", strings.Replace(secure.URL, "https:", "http:", 1), "400 Bad Request", nil},
		{"no such host", "http://nowhere.invalid:1", "", nil},
	} {
		err := probe(t.Context(), NewClient(2*time.Second, 0), c.target+"/healthz", nil)
		if err == nil || !strings.Contains(err.Error(), c.says) || c.is != nil && !errors.Is(err, c.is) ||
			strings.ContainsAny(err.Error(), "\x1b\a\u202e") {
			t.Errorf("%s: %v; want %s", c.what, err, c.says)
		}
		if errors.Is(c.is, ErrNotListening) != errors.Is(err, ErrNotListening) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if err := Probe(t.Context(), serveAnswer(t, 200, `{"service":"lockstep","status":"ok"}`)); err != nil {
		t.Error(err)
	}
}

// What a proxy answers, or that it does not, is said of the proxy, by its address alone.
func TestProbeNamesProxy(t *testing.T) {
	for what, c := range map[string]struct{ proxy, target, says string }{
		"dead":      {"http://" + suite.UnusedAddr(t), "http://shop.invalid", "connection refused"},
		"forbids":   {serveAnswer(t, 403, "blocked by policy"), "http://shop.invalid", `no lockstep: 403 Forbidden, "blocked by policy"`},
		"login":     {serveAnswer(t, 407, ""), "https://shop.invalid", "the proxy refuses to connect: 407 Proxy Authentication Required"},
		"not HTTP":  {listenWith(t, "-ERR\r\n"), "http://shop.invalid", "what it says is not HTTP"},
		"a gateway": {serveAnswer(t, 502, ""), "http://shop.invalid", `no lockstep: 502 Bad Gateway, ""`},
	} {
		at, err := url.Parse(c.proxy)
		if err != nil {
			t.Fatal(err)
		}
		at.User = url.UserPassword("u", "PW")
		client := NewClient(10*time.Second, 0)
		client.Transport.(*http.Transport).Proxy = http.ProxyURL(at)
		err = probe(t.Context(), client, c.target+"/healthz", nil)
		by := ", by way of the proxy " + c.proxy + " (of HTTP_PROXY or HTTPS_PROXY; hosts in NO_PROXY are asked without it)"
		if err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasSuffix(err.Error(), by) || strings.Contains(err.Error(), "PW") ||
			errors.Is(err, ErrNotListening) {
			t.Errorf("%s: %v; want %s%s", what, err, c.says, by)
		}
	}
	client := NewClient(10*time.Second, 0)
	client.Transport.(*http.Transport).Proxy = func(*http.Request) (*url.URL, error) { return nil, errors.New("http://u:PW@") }
	if err := probe(t.Context(), client, "http://shop.invalid", nil); !errors.Is(err, errInvalidProxy) || strings.Contains(err.Error(), "PW") {
		t.Errorf("%v; want %v", err, errInvalidProxy)
	}
}

// A lockstep that cannot sell says why, and what is no lockstep is not ready.
func TestReadyNamesCause(t *testing.T) {
	const full = `{"error":{"code":"redis_unavailable","message":"READONLY \u001b[31m"}}`
	for target, says := range map[string]string{
		serveAnswer(t, 503, full):                 `not ready: redis_unavailable: "READONLY \x1b[31m"`,
		serveAnswer(t, 200, "<html>ready</html>"): "what answers there is no lockstep: 200 OK",
	} {
		if err := Ready(t.Context(), target, time.Minute); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%v; want %s", err, says)
		}
	}
}
