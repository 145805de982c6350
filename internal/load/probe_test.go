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

// listening answers whoever connects with a text, and gives its address.
func listening(t *testing.T, says string) string {
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

func answering(t *testing.T, status int, body string) string {
	t.Helper()
	server := httptest.NewServer(answers(status, body))
	t.Cleanup(server.Close)
	return server.URL
}

func answers(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// Why no lockstep answers is named, and never by another cause.
func TestProbeNamesTheCause(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(answers(200, "hi"))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer secure.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	closed := listening(t, "")
	for _, c := range []struct {
		what, target, says string
		is                 error
	}{
		{"nobody", "http://" + suite.UnusedAddr(t), "nothing listens there", ErrNobody},
		{"another program", answering(t, 200, "hello\x1b[31m"), `what answers there is no lockstep: 200 OK, "hello\x1b[31m"`, ErrOther},
		{"another's JSON", answering(t, 200, `{"service":"shop"}`), "what answers there is no lockstep: 200 OK", ErrOther},
		{"null", answering(t, 200, `null`), "what answers there is no lockstep: 200 OK", ErrOther},
		{"forbidden", answering(t, 403, "go away"), `what answers there is no lockstep: 403 Forbidden, "go away"`, ErrOther},
		{"a guard", answering(t, 403, `{"error":{"code":"forbidden_host","message":"no\u202e"}}`),
			`it answers 403 Forbidden: forbidden_host, "no\u202e"`, nil},
		{"endless", answering(t, 200, strings.Repeat("x", 2<<20)), "the answer is longer than 1048576 bytes", nil},
		{"silent", silent.URL, "no answer in time", context.DeadlineExceeded},
		{"hangs up", closed, "it closed the connection before the end of an answer", nil},
		{"not HTTP", listening(t, "-ERR \x1b]0;T\a\r\n"), `what it says is not HTTP: "malformed HTTP`, nil},
		{"odd headers", listening(t, "HTTP/1.1 200 OK\r\nx\x1b[31m\r\n\r\n"), `what it says is not HTTP: "malformed MIME header`, nil},
		{"no TLS", strings.Replace(answering(t, 200, "hi"), "http:", "https:", 1), "it does not speak TLS: try http://", nil},
		{"neither", strings.Replace(listening(t, "-ERR what is it\r\n"), "http:", "https:", 1), "it does not speak TLS", nil},
		{"certificate", secure.URL, "its certificate is not trusted: ", nil},
		{"TLS", strings.Replace(secure.URL, "https:", "http:", 1), "400 Bad Request", nil},
		{"no such host", "http://nowhere.invalid:1", "", nil},
	} {
		err := probe(t.Context(), NewClient(2*time.Second, 0), c.target+"/healthz", nil)
		if err == nil || !strings.Contains(err.Error(), c.says) || c.is != nil && !errors.Is(err, c.is) ||
			strings.ContainsAny(err.Error(), "\x1b\a\u202e") {
			t.Errorf("%s: %v; want %s", c.what, err, c.says)
		}
		if errors.Is(c.is, ErrNobody) != errors.Is(err, ErrNobody) {
			t.Errorf("%s: %v", c.what, err)
		}
	}
	if err := Probe(t.Context(), answering(t, 200, `{"service":"lockstep","status":"ok"}`)); err != nil {
		t.Error(err)
	}
}

// What a proxy answers, or that it does not, is said of the proxy, by its address alone.
func TestProbeNamesTheProxy(t *testing.T) {
	for what, c := range map[string]struct{ proxy, target, says string }{
		"dead":      {"http://" + suite.UnusedAddr(t), "http://shop.invalid", "connection refused"},
		"forbids":   {answering(t, 403, "blocked by policy"), "http://shop.invalid", `no lockstep: 403 Forbidden, "blocked by policy"`},
		"login":     {answering(t, 407, ""), "https://shop.invalid", "the proxy refuses to connect: 407 Proxy Authentication Required"},
		"not HTTP":  {listening(t, "-ERR\r\n"), "http://shop.invalid", "what it says is not HTTP"},
		"a gateway": {answering(t, 502, ""), "http://shop.invalid", `no lockstep: 502 Bad Gateway, ""`},
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
			errors.Is(err, ErrNobody) {
			t.Errorf("%s: %v; want %s%s", what, err, c.says, by)
		}
	}
	client := NewClient(10*time.Second, 0)
	client.Transport.(*http.Transport).Proxy = func(*http.Request) (*url.URL, error) { return nil, errors.New("http://u:PW@") }
	if err := probe(t.Context(), client, "http://shop.invalid", nil); !errors.Is(err, errProxy) || strings.Contains(err.Error(), "PW") {
		t.Errorf("%v; want %v", err, errProxy)
	}
}

// A lockstep that cannot sell says why, and what is no lockstep is not ready.
func TestReady(t *testing.T) {
	const full = `{"error":{"code":"redis_unavailable","message":"READONLY \u001b[31m"}}`
	for target, says := range map[string]string{
		answering(t, 503, full):                 `not ready: redis_unavailable: "READONLY \x1b[31m"`,
		answering(t, 200, "<html>ready</html>"): "what answers there is no lockstep: 200 OK",
	} {
		if err := Ready(t.Context(), target, time.Minute); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%v; want %s", err, says)
		}
	}
}
