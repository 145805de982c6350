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

// listenWith starts a server that answers every connection with a text, and returns its URL.
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

func TestProbeNamesCause(t *testing.T) {
	t.Parallel()
	secure := httptest.NewTLSServer(answerWith(200, "hi"))
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer secure.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	closed := listenWith(t, "")
	for _, test := range []struct {
		name, target, want string
		wantErr            error
	}{
		{name: "closed port", target: "http://" + suite.UnusedAddr(t), want: "nothing is listening there", wantErr: ErrNotListening},
		{
			name: "another program", target: serveAnswer(t, 200, "hello\x1b[31m"),
			want: `the server is not lockstep: it answered 200 OK, "hello\x1b[31m"`, wantErr: ErrNotLockstep,
		},
		{
			name: "JSON of another program", target: serveAnswer(t, 200, `{"service":"shop"}`),
			want: "the server is not lockstep: it answered 200 OK", wantErr: ErrNotLockstep,
		},
		{name: "null", target: serveAnswer(t, 200, `null`), want: "the server is not lockstep: it answered 200 OK", wantErr: ErrNotLockstep},
		{
			name: "forbidden", target: serveAnswer(t, 403, "go away"), want: `the server is not lockstep: it answered 403 Forbidden, "go away"`,
			wantErr: ErrNotLockstep,
		},
		{
			name: "error of lockstep", target: serveAnswer(t, 403, `{"error":{"code":"forbidden_host","message":"no\u202e"}}`),
			want: `the server answered 403 Forbidden: forbidden_host, "no\u202e"`,
		},
		{name: "endless", target: serveAnswer(t, 200, strings.Repeat("x", 2<<20)), want: "the answer is longer than 1048576 bytes"},
		{name: "silent", target: silent.URL, want: "no answer in time", wantErr: context.DeadlineExceeded},
		{name: "hangs up", target: closed, want: "the server closed the connection before its answer was complete"},
		{name: "not HTTP", target: listenWith(t, "-ERR \x1b]0;T\a\r\n"), want: `the answer is not HTTP: "malformed HTTP`},
		{
			name: "odd headers", target: listenWith(t, "HTTP/1.1 200 OK\r\nx\x1b[31m\r\n\r\n"),
			want: `the answer is not HTTP: "malformed MIME header`,
		},
		{
			name: "no TLS", target: strings.Replace(serveAnswer(t, 200, "hi"), "http:", "https:", 1),
			want: "the server does not use TLS: try http://",
		},
		{
			name: "neither TLS nor HTTP", target: strings.Replace(listenWith(t, "-ERR what is it\r\n"), "http:", "https:", 1),
			want: "the server does not use TLS",
		},
		{name: "certificate", target: secure.URL, want: "the server's certificate is not trusted: "},
		{name: "plain HTTP to TLS", target: strings.Replace(secure.URL, "https:", "http:", 1), want: "400 Bad Request"},
		{name: "no such host", target: "http://nowhere.invalid:1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := probe(t.Context(), NewClient(2*time.Second, 0), test.target+"/healthz", nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || test.wantErr != nil && !errors.Is(err, test.wantErr) ||
				strings.ContainsAny(err.Error(), "\x1b\a\u202e") {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if errors.Is(test.wantErr, ErrNotListening) != errors.Is(err, ErrNotListening) {
				t.Errorf("got %v, want ErrNotListening: %t", err, test.wantErr != nil)
			}
		})
	}
	if err := Probe(t.Context(), serveAnswer(t, 200, `{"service":"lockstep","status":"ok"}`)); err != nil {
		t.Error(err)
	}
}

// An error of a proxy names the proxy by its address, without its password.
func TestProbeNamesProxy(t *testing.T) {
	for name, test := range map[string]struct{ proxy, target, want string }{
		"dead": {proxy: "http://" + suite.UnusedAddr(t), target: "http://shop.invalid", want: "connection refused"},
		"forbids": {
			proxy: serveAnswer(t, 403, "blocked by policy"), target: "http://shop.invalid",
			want: `the server is not lockstep: it answered 403 Forbidden, "blocked by policy"`,
		},
		"login": {
			proxy: serveAnswer(t, 407, ""), target: "https://shop.invalid",
			want: "the proxy refuses to connect: 407 Proxy Authentication Required",
		},
		"not HTTP": {proxy: listenWith(t, "-ERR\r\n"), target: "http://shop.invalid", want: "the answer is not HTTP"},
		"a gateway": {
			proxy: serveAnswer(t, 502, ""), target: "http://shop.invalid", want: `the server is not lockstep: it answered 502 Bad Gateway, ""`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			address, err := url.Parse(test.proxy)
			if err != nil {
				t.Fatal(err)
			}
			address.User = url.UserPassword("u", "PW")
			client := NewClient(10*time.Second, 0)
			client.Transport.(*http.Transport).Proxy = http.ProxyURL(address)
			err = probe(t.Context(), client, test.target+"/healthz", nil)
			wantProxy := ", through the proxy " + test.proxy + " (set by HTTP_PROXY or HTTPS_PROXY; hosts in NO_PROXY bypass it)"
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.HasSuffix(err.Error(), wantProxy) ||
				strings.Contains(err.Error(), "PW") ||
				errors.Is(err, ErrNotListening) {
				t.Errorf("got %v, want %s%s", err, test.want, wantProxy)
			}
		})
	}
	client := NewClient(10*time.Second, 0)
	client.Transport.(*http.Transport).Proxy = func(*http.Request) (*url.URL, error) { return nil, errors.New("http://u:PW@") }
	if err := probe(t.Context(), client, "http://shop.invalid", nil); !errors.Is(err, errInvalidProxy) || strings.Contains(err.Error(), "PW") {
		t.Errorf("got %v, want %v without the password", err, errInvalidProxy)
	}
}

func TestReadyNamesCause(t *testing.T) {
	const full = `{"error":{"code":"redis_unavailable","message":"READONLY \u001b[31m"}}`
	for target, want := range map[string]string{
		serveAnswer(t, 503, full):                 `not ready: redis_unavailable: "READONLY \x1b[31m"`,
		serveAnswer(t, 200, "<html>ready</html>"): "the server is not lockstep: it answered 200 OK",
	} {
		t.Run(target, func(t *testing.T) {
			if err := Ready(t.Context(), target, time.Minute); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}
