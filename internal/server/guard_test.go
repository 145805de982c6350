package server

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"lockstep/internal/api"
	"lockstep/internal/config"
	"lockstep/internal/lab"
	"lockstep/internal/language"
)

// A guard decides by the address that a server listens on, and by the configured token, what each caller may do.
func TestGuardFollowsAddressAndToken(t *testing.T) {
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
		{"beyond, nobody", beyond, config.Admin{}, []string{"shop.example.com"}, "403 403 403 403 403"},
		{"beyond, open", beyond, config.Admin{Open: true}, nil, "200 200 200 403 403"},
		{"beyond, open, named", beyond, config.Admin{Open: true}, []string{"shop.example.com"}, "200 200 200 200 403"},
		{"beyond, token", beyond, config.Admin{Token: "x"}, nil, "401 401 401 401 401"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config.Config{Admin: c.admin, Server: config.Server{Addr: c.addr.String(), Hosts: c.hosts}}
			front := newGuard(cfg, c.addr)
			replica := newGuard(replicaConfig(front, cfg), loopback)
			isClosed := c.admin == (config.Admin{}) && c.addr == beyond
			if isClosed && replica.Token == newGuard(replicaConfig(front, cfg), loopback).Token {
				t.Errorf("the token that nobody knows is %q each time", replica.Token)
			}
			for server, guard := range map[string]api.Guard{"front": front, "replica": replica} {
				got := ""
				for _, host := range []string{"localhost:8080", "10.0.0.7:8080", machine, "shop.example.com", "evil.com"} {
					request, err := http.NewRequest(http.MethodPut, "http://"+host+"/lock", http.NoBody)
					if err != nil {
						t.Fatal(err)
					}
					got += " " + strconv.Itoa(statusOf(guard, request))
				}
				// Of a request that a front with a token has let pass, a replica checks only the token. If nobody may change anything, it is
				// a token that nobody knows.
				if want := " " + c.want; got != want && (server == "front" || guard.Token == "" || strings.Contains(got, "200")) {
					t.Errorf("%s: got%s; want%s", server, got, want)
				}
			}
		})
	}
}

// statusOf returns the status with which a guard refuses a request; 200 if it lets it pass.
func statusOf(guard api.Guard, request *http.Request) int {
	rows := every(nil, nil)
	for i := range rows {
		rows[i].Handle = func(http.ResponseWriter, *http.Request) error { return nil }
	}
	recorder := httptest.NewRecorder()
	api.NewHandler(guard, rows).ServeHTTP(recorder, request)
	return recorder.Code
}

// A lab starts processes on the server's machine, so only a caller on that machine or one with the token may run it, and no page of another
// site may. The list of labs says whether the caller may.
func TestLabsNeedLoopbackOrToken(t *testing.T) {
	loopback, beyond := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}, &net.TCPAddr{IP: net.IPv4zero}
	for _, c := range []struct {
		name  string
		addr  net.Addr
		admin config.Admin
		runs  string
		want  string // the statuses of the requests below
	}{
		//                                      plain tokened wrong forwarded cross-site
		{"loopback", loopback, config.Admin{}, "open", "200 200 200 403 403"},
		{"loopback, open", loopback, config.Admin{Open: true}, "no", "404 404 404 404 403"},
		{"loopback, token", loopback, config.Admin{Token: "x"}, "token", "401 200 403 401 403"},
		{"beyond, nobody", beyond, config.Admin{}, "no", "403 403 403 403 403"},
		{"beyond, open", beyond, config.Admin{Open: true}, "no", "404 404 404 404 403"},
		{"beyond, token", beyond, config.Admin{Token: "x"}, "token", "401 200 403 401 403"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := config.Config{Admin: c.admin, Server: config.Server{Addr: c.addr.String()}}
			guard := newGuard(cfg, c.addr)
			labs, got := newLabs(guard, "lockstep"), ""
			labs.Run = func(context.Context, lab.Lab, lab.RunOptions) (lab.Result, error) { return lab.Result{}, nil }
			for _, header := range [][2]string{
				{"Accept", "*/*"}, {"Authorization", "Bearer x"}, {"Authorization", "Bearer y"}, {"X-Forwarded-For", "192.0.2.1"},
				{"Sec-Fetch-Site", "cross-site"},
			} {
				request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/labs/lost-update", http.NoBody)
				request.Header.Set(header[0], header[1])
				recorder := httptest.NewRecorder()
				api.NewHandler(guard, labs.Routes()).ServeHTTP(recorder, request)
				got += " " + strconv.Itoa(recorder.Code)
			}
			if listed := labs.List(language.English)[0]; got != " "+c.want || listed.Runs != c.runs {
				t.Errorf("got%s, listed as for %q; want %s, %q", got, listed.Runs, c.want, c.runs)
			}
		})
	}
	if listed := newLabs(api.Guard{Token: "x"}, "").List(language.English)[0]; listed.Runs != "no" {
		t.Errorf("a server that knows no program lists them as for %q", listed.Runs)
	}
}

func TestGuardWarnsOfOpenServers(t *testing.T) {
	loopback, beyond := &net.TCPAddr{IP: net.IPv6loopback}, &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 8080}
	for _, c := range []struct {
		name  string
		admin config.Admin
		addr  net.Addr
		says  string
	}{
		{"loopback", config.Admin{}, loopback, ""},
		{"beyond loopback, token", config.Admin{Token: "s3cret"}, beyond, ""},
		{"beyond loopback, closed", config.Admin{}, beyond, "nobody may change anything, only buy: 10.0.0.7:8080 is beyond loopback"},
		{"beyond loopback, open", config.Admin{Open: true}, beyond, "everybody who reaches 10.0.0.7:8080 may PUT, DELETE and POST"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log strings.Builder
			warnOfAccess(newGuard(config.Config{Admin: c.admin}, c.addr), c.addr, slog.New(slog.NewTextHandler(&log, nil)))
			if logged := log.String(); !strings.Contains(logged, c.says) || c.says == "" && logged != "" {
				t.Errorf("logged %q; want %q", logged, c.says)
			}
		})
	}
}
