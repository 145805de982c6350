package cli

import (
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"lockstep/internal/shop/api"
	"lockstep/internal/shop/config"
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
	asked := &testServer{server: &server{addr: addr}, t: t}
	status, text := asked.send(t.Context(), method, path, body, header)
	return status, string(text)
}

// Who may do what, by where the server listens and what is configured.
func TestNewGuard(t *testing.T) {
	loopback, beyond := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, &net.TCPAddr{IP: net.IPv4zero}
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	machine, _, _ = strings.Cut(machine, ".")
	machine += ".local"
	for _, c := range []struct {
		name  string
		addr  net.Addr
		admin config.Admin
		hosts []string
		want  string // the statuses of PUT under the names below
	}{
		//                                            localhost  10.0.0.7  machine  shop.example.com  evil.com
		{"loopback", loopback, config.Admin{}, nil, "200 403 403 403 403"},
		{"loopback, named", loopback, config.Admin{}, []string{"shop.example.com"}, "200 403 403 200 403"},
		{"loopback, open", loopback, config.Admin{Open: true}, nil, "200 200 200 403 403"},
		{"loopback, token", loopback, config.Admin{Token: "x"}, nil, "401 401 401 401 401"},
		{"loopback, token, named", loopback, config.Admin{Token: "x"}, []string{"shop.example.com"}, "401 403 403 401 403"},
		{"beyond, open", beyond, config.Admin{Open: true}, nil, "200 200 200 403 403"},
		{"beyond, open, named", beyond, config.Admin{Open: true}, []string{"shop.example.com"}, "200 200 200 200 403"},
		{"beyond, token", beyond, config.Admin{Token: "x"}, nil, "401 401 401 401 401"},
	} {
		cfg := config.Config{Admin: c.admin, Server: config.Server{Addr: c.addr.String(), Hosts: c.hosts}}
		front := newGuard(cfg, c.addr)
		replica := newGuard(behind(front, cfg), loopback)
		for who, guard := range map[string]api.Guard{"front": front, "replica": replica} {
			got := ""
			for _, host := range []string{"localhost:8080", "10.0.0.7:8080", machine, "shop.example.com", "evil.com"} {
				request, err := http.NewRequest(http.MethodPut, "http://"+host+"/lock", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				got += " " + strconv.Itoa(statusOf(guard, request))
			}
			// what a front with a token has let pass, its replicas ask for the token alone
			if want := " " + c.want; got != want && (who == "front" || c.admin.Token == "" || strings.Contains(got, "200")) {
				t.Errorf("%s, %s:%s; want%s", c.name, who, got, want)
			}
		}
	}
}

// statusOf returns the status with which a guard refuses a request; 200 if it lets it pass.
func statusOf(guard api.Guard, request *http.Request) int {
	err := guard.Check(request)
	if err == nil {
		return http.StatusOK
	}
	status, _ := api.StatusOf(err)
	return status
}

// Where nobody may administer, a cluster's replicas let nobody, either, though they listen on loopback; everybody may look.
func TestNobodyAdministersReplicas(t *testing.T) {
	beyond := &net.TCPAddr{IP: net.IPv4zero}
	for _, hosts := range [][]string{nil, {"shop.example.com"}} {
		cfg := config.Config{Server: config.Server{Addr: "0.0.0.0:8080", Hosts: hosts}}
		front := newGuard(cfg, beyond)
		replica := newGuard(behind(front, cfg), &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
		for asked, want := range map[string]int{
			"PUT /lock": 401, "POST /bursts": 401, "GET /lock": 200, "POST /inventory/sale": 200,
		} {
			method, path, _ := strings.Cut(asked, " ")
			request, err := http.NewRequest(method, "http://shop.example.com"+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			if status := statusOf(replica, request); status != want {
				t.Errorf("replica, %s: %d; want %d", asked, status, want)
			}
		}
		if replica.Token == newGuard(behind(front, cfg), beyond).Token {
			t.Error("the token that nobody knows is always the same")
		}
	}
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

func TestWhatSurprisesIsSaid(t *testing.T) {
	loopback, beyond := &net.TCPAddr{IP: net.IPv6loopback}, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 8080}
	for _, c := range []struct {
		admin config.Admin
		addr  net.Addr
		says  string
	}{
		{config.Admin{}, loopback, ""},
		{config.Admin{Token: "s3cret"}, beyond, ""},
		{config.Admin{}, beyond, "nobody may change anything, only buy: 10.0.0.7:8080 is beyond loopback"},
		{config.Admin{Open: true}, beyond, "everybody who reaches 10.0.0.7:8080 may PUT, DELETE and POST"},
	} {
		var log strings.Builder
		warnOf(newGuard(config.Config{Admin: c.admin}, c.addr), c.addr, newLog(&log, "warn"))
		if said := log.String(); !strings.Contains(said, c.says) || c.says == "" && said != "" {
			t.Errorf("%+v at %s: %q; want %q", c.admin, c.addr, said, c.says)
		}
	}
}
