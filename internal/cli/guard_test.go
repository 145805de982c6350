package cli

import (
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// administer asks a server for something under a name, with headers "Name: value", and gives the status and the body.
func administer(t *testing.T, addr, method, path, host string, headers ...string) (int, string) {
	t.Helper()
	header := http.Header{"Host": {host}}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		header.Set(name, value)
	}
	body := ""
	if method == http.MethodPut {
		body = `{"version":"v1"}`
	}
	asked := &testServer{addr: addr, t: t}
	status, text := asked.send(t.Context(), method, path, body, header)
	return status, string(text)
}

func TestTheTokenCountsOnLoopbackToo(t *testing.T) {
	s := start(t, "--redis.embedded_addr", anyPort, "--admin.token", "s3cret")
	if status, text := administer(t, s.addr, "PUT", "/lock", s.addr); status != 401 {
		t.Errorf("PUT without the token: %d %s; want 401", status, text)
	}
	if status, text := administer(t, s.addr, "PUT", "/lock", "shop.example.com", "Authorization: Bearer s3cret"); status != 200 {
		t.Errorf("PUT with the token, under any name: %d %s; want 200", status, text)
	}
	if status, text := administer(t, s.addr, "POST", "/inventory/sale", "shop.example.com"); status != 200 {
		t.Errorf("buying, under any name: %d %s; want 200", status, text)
	}
	for _, plays := range []string{"/seat/state?lock=v0", "/seat/hint?lock=v0&anomaly=lost-update", "/seat/explore?lock=v0"} {
		if status, text := administer(t, s.addr, "GET", plays, "shop.example.com"); status != 200 {
			t.Errorf("playing without the token: %s: %d %s; want 200", plays, status, text)
		}
	}
}

func TestForeignNamesAndPages(t *testing.T) {
	s := start(t, "--redis.embedded_addr", anyPort, "--server.hosts", "shop.example.com")
	for _, c := range []struct {
		method, path, host, header string
		status                     int
	}{
		{"PUT", "/lock", "evil.com", "", 403},
		{"GET", "/inventory", "evil.com", "", 403},
		{"GET", "/nowhere", "evil.com", "", 403},
		{"PUT", "/lock", "shop.example.com", "", 200},
		{"PUT", "/lock", "localhost", "", 200},
		{"POST", "/inventory/sale", s.addr, "Origin: http://evil.com", 403},
		{"POST", "/inventory/sale", s.addr, "Sec-Fetch-Site: cross-site", 403},
		{"POST", "/inventory/sale", s.addr, "Sec-Fetch-Site: same-origin", 200},
		{"GET", "/healthz", s.addr, "Sec-Fetch-Site: cross-site", 200},
	} {
		headers := []string{}
		if c.header != "" {
			headers = append(headers, c.header)
		}
		status, text := administer(t, s.addr, c.method, c.path, c.host, headers...)
		if status != c.status || status == 403 && !strings.Contains(text, `"code":"forbidden"`) {
			t.Errorf("%s %s, Host: %s, %s: %d %s; want %d", c.method, c.path, c.host, c.header, status, text, c.status)
		}
	}
	if run := s.report(); run.Sold != 1 {
		t.Errorf("%d were sold; want 1", run.Sold)
	}
}

// A cluster's front and its replicas ask for the token; it is in nobody's arguments.
func TestClusterWithAToken(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--replicas", "2", "--admin.token", "s3cret")
	addrs := []string{c.addr}
	for _, replica := range c.replicas() {
		addrs = append(addrs, replica.Address)
		if runtime.GOOS != "linux" {
			continue
		}
		arguments, err := os.ReadFile("/proc/" + strconv.Itoa(replica.PID) + "/cmdline")
		if err != nil || !strings.Contains(string(arguments), "--server.replica") || strings.Contains(string(arguments), "s3cret") {
			t.Errorf("the arguments of %s: %q, %v; want no token", replica.Name, arguments, err)
		}
	}
	for _, addr := range addrs {
		if status, text := administer(t, addr, "PUT", "/lock", addr); status != 401 {
			t.Errorf("PUT without the token at %s: %d %s; want 401", addr, status, text)
		}
		if status, text := administer(t, addr, "PUT", "/lock", addr, "Authorization: Bearer s3cret"); status != 200 {
			t.Errorf("PUT with the token at %s: %d %s; want 200", addr, status, text)
		}
		if status, text := administer(t, addr, "POST", "/inventory/sale", addr, "Origin: http://evil.com"); status != 403 {
			t.Errorf("a page of another site buys at %s: %d %s; want 403", addr, status, text)
		}
	}
	burst := []string{"burst", "--target", c.url(), "-n", "20", "-c", "20", "--lock", "v4", "--admin.token", "s3cret"}
	if code, stdout, stderr := command(t, burst...); code != 0 {
		t.Errorf("burst with the token: exit code %d: %s%s", code, stdout, stderr)
	}
}

// A workshop's guests may switch the lock, and no page of another site may make them.
func TestClusterOpenToGuests(t *testing.T) {
	t.Parallel()
	c := startCluster(t, "--replicas", "2", "--server.hosts", "shop.example.com", "--admin.open")
	for host, want := range map[string]int{"192.168.1.20:8080": 200, "shop.example.com": 200, c.addr: 200, "evil.com": 403} {
		for _, path := range []string{"/lock", "/replicas"} {
			if status, text := administer(t, c.addr, "GET", path, host); status != want {
				t.Errorf("GET %s, Host: %s: %d %s; want %d", path, host, status, text, want)
			}
		}
		if status, text := administer(t, c.addr, "PUT", "/lock", host); status != want {
			t.Errorf("PUT, Host: %s: %d %s; want %d", host, status, text, want)
		}
	}
	if status, _ := administer(t, c.addr, "PUT", "/lock", c.addr, "Origin: http://evil.com"); status != 403 {
		t.Errorf("PUT of a page of another site: %d; want 403", status)
	}
}
