package server

import (
	"io"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"

	"lockstep/internal/lock/evolution"
	"lockstep/internal/shop/config"
)

// opened is a server with an embedded Redis and these settings, until the test ends.
func opened(t *testing.T, settings map[string]string) *Server {
	t.Helper()
	all := map[string]string{"server.addr": "127.0.0.1:0", "redis.embedded_addr": "127.0.0.1:0"}
	maps.Copy(all, settings)
	cfg, err := config.Given(all, evolution.Names())
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), cfg, Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// send sends a server a request under a name, with headers "Name: value", and gives the status and the body.
func send(t *testing.T, s *Server, method, path, host string, headers ...string) (int, string) {
	t.Helper()
	var body io.Reader = http.NoBody
	if method == http.MethodPut {
		body = strings.NewReader(`{"version":"v1"}`)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = host
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

func TestTheTokenCountsOnLoopbackToo(t *testing.T) {
	s := opened(t, map[string]string{"admin.token": "s3cret"})
	if status, text := send(t, s, "PUT", "/lock", s.Addr); status != 401 {
		t.Errorf("PUT without the token: %d %s; want 401", status, text)
	}
	if status, text := send(t, s, "PUT", "/lock", "shop.example.com", "Authorization: Bearer s3cret"); status != 200 {
		t.Errorf("PUT with the token, under any name: %d %s; want 200", status, text)
	}
	if status, text := send(t, s, "POST", "/inventory/sale", "shop.example.com"); status != 200 {
		t.Errorf("buying, under any name: %d %s; want 200", status, text)
	}
	for _, plays := range []string{"/seat/state?lock=v0", "/seat/hint?lock=v0&anomaly=lost-update", "/seat/explore?lock=v0"} {
		if status, text := send(t, s, "GET", plays, "shop.example.com"); status != 200 {
			t.Errorf("playing without the token: %s: %d %s; want 200", plays, status, text)
		}
	}
}

func TestForeignNamesAndPages(t *testing.T) {
	s := opened(t, map[string]string{"server.hosts": "shop.example.com"})
	for _, c := range []struct {
		method, path, host, header string
		status                     int
	}{
		{"PUT", "/lock", "evil.com", "", 403},
		{"GET", "/inventory", "evil.com", "", 403},
		{"GET", "/nowhere", "evil.com", "", 403},
		{"PUT", "/lock", "shop.example.com", "", 200},
		{"PUT", "/lock", "localhost", "", 200},
		{"POST", "/inventory/sale", s.Addr, "Origin: http://evil.com", 403},
		{"POST", "/inventory/sale", s.Addr, "Sec-Fetch-Site: cross-site", 403},
		{"POST", "/inventory/sale", s.Addr, "Sec-Fetch-Site: same-origin", 200},
		{"GET", "/healthz", s.Addr, "Sec-Fetch-Site: cross-site", 200},
	} {
		headers := []string{}
		if c.header != "" {
			headers = append(headers, c.header)
		}
		status, text := send(t, s, c.method, c.path, c.host, headers...)
		if status != c.status || status == 403 && !strings.Contains(text, `"code":"forbidden"`) {
			t.Errorf("%s %s, Host: %s, %s: %d %s; want %d", c.method, c.path, c.host, c.header, status, text, c.status)
		}
	}
	if status, text := send(t, s, "GET", "/inventory", s.Addr); status != 200 || !strings.Contains(text, `"sold":1,`) {
		t.Errorf("%s; want 1 to be sold", text)
	}
}
