package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lockstep/internal/api/route"
)

func TestHostsKnows(t *testing.T) {
	closed := &Hosts{Names: []string{"Shop.example.com", "10.0.0.7", "2001:DB8::7"}}
	open := &Hosts{AnyIP: true}
	for _, c := range []struct {
		host                string
		closed, open, anyOf bool
	}{
		{"127.0.0.1:8080", true, true, true}, {"127.0.0.1", true, true, true}, {"127.9.9.9:1", true, true, true},
		{"[::1]:8080", true, true, true}, {"[::1]", true, true, true}, {"[::ffff:127.0.0.1]:8080", true, true, true},
		{"localhost:8080", true, true, true}, {"LOCALHOST", true, true, true}, {"localhost.", true, true, true},
		{"shop.localhost:8080", true, true, true}, {"", true, true, true},
		{"evil.com", false, false, true}, {"evil.com:8080", false, false, true}, {"localhost.evil.com", false, false, true},
		{"127.0.0.1.evil.com", false, false, true}, {"evillocalhost", false, false, true}, {"127.0.0.1:8080:1", false, false, true},
		{"evil.com@127.0.0.1", false, false, true},
		{"shop.example.com", true, false, true}, {"SHOP.example.COM.:443", true, false, true}, {"a.shop.example.com", false, false, true},
		{"10.0.0.7:8080", true, true, true}, {"[2001:db8:0::7]:8080", true, true, true},
		{"10.0.0.8:8080", false, true, true}, {"[fe80::1]", false, true, true}, {"0.0.0.0:8080", false, true, true},
	} {
		t.Run(fmt.Sprintf("%q", c.host), func(t *testing.T) {
			if got := closed.isKnown(c.host); got != c.closed {
				t.Errorf("with names only: %v; want %v", got, c.closed)
			}
			if got := open.isKnown(c.host); got != c.open {
				t.Errorf("with any IP address: %v; want %v", got, c.open)
			}
			if got := (*Hosts)(nil).isKnown(c.host); got != c.anyOf {
				t.Errorf("without a restriction: %v; want %v", got, c.anyOf)
			}
		})
	}
}

// newGuardedHandler returns a handler that answers 200 to each request that the guard allows: on the shop's routes, and on some of each
// role.
func newGuardedHandler(guard Guard) http.Handler {
	rows := append((&API{Metrics: noMetrics{}}).Routes(), []route.Row{
		{Method: "GET", Pattern: "/play/{what}", Access: route.Participant},
		{Method: "GET", Pattern: "/room/{lesson}", Access: route.Reader},
		{Method: "POST", Pattern: "/room/answer", Access: route.Participant},
		{Method: "GET", Pattern: "/room/participants", Access: route.Administrator},
		{Method: "DELETE", Pattern: "/room/participants/{who}", Access: route.Administrator},
		{Method: "POST", Pattern: "/bursts", Access: route.Administrator},
		{Method: "POST", Pattern: "/replicas/{name}", Access: route.Administrator},
	}...)
	for i := range rows {
		rows[i].Handle = func(http.ResponseWriter, *http.Request) error { return nil }
	}
	return NewHandler(guard, rows)
}

// serve returns the answer to a request.
func serve(guard Guard, request *http.Request) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	newGuardedHandler(guard).ServeHTTP(recorder, request)
	return recorder
}

// A page of another site may not run explorations, however it writes the path. All other callers may.
func TestPlayRefusesCrossSiteRequests(t *testing.T) {
	for _, guard := range []Guard{{}, {Open: true}, {Token: "secret"}} {
		for path, cross := range map[string]int{
			"/play/table": 403, "/play/%74able": 403, "/%70lay/table": 403, "/play//table": 404, "/play/../play/table": 404, "/room/3": 200,
		} {
			for site, status := range map[string]int{"": cross, "same-origin": cross, "cross-site": cross} {
				t.Run(fmt.Sprintf("%+v, %s, %q", guard, path, site), func(t *testing.T) {
					if status == 403 && site != "cross-site" {
						status = 200
					}
					request := httptest.NewRequest(http.MethodGet, path, http.NoBody)
					request.Header.Set("Sec-Fetch-Site", site)
					if got := serve(guard, request).Code; got != status {
						t.Errorf("got %d; want %d", got, status)
					}
				})
			}
		}
	}
}

// An escaped path needs the same role as the plain one, and reaches no other handler.
func TestEscapedPathNeedsSameRole(t *testing.T) {
	guard := Guard{Token: "secret"}
	for request, status := range map[string]int{
		"GET /room%2Fparticipants": 401, "GET /room/%70articipants": 401, "PUT /%6Cock": 401, "HEAD /room/participants": 401,
		"POST /replicas/..%2Finventory%2Fsale": 401, "GET /lock%2F": 404,
	} {
		t.Run(request, func(t *testing.T) {
			method, path, _ := strings.Cut(request, " ")
			if got := serve(guard, httptest.NewRequest(method, path, http.NoBody)).Code; got != status {
				t.Errorf("got %d; want %d", got, status)
			}
		})
	}
}

func TestGuardAllowsByRoleAndOrigin(t *testing.T) {
	loopback := Guard{Open: true, Hosts: &Hosts{}}
	withToken := Guard{Token: "secret", Open: true}
	for _, c := range []struct {
		name                 string
		guard                Guard
		method, host, header string
		status               int
		says                 string
	}{
		{"a program", loopback, "PUT", "127.0.0.1:8080", "", 200, ""},
		{"a program that sells", loopback, "POST", "localhost:8080", "", 200, ""},
		{"the page itself", loopback, "POST", "localhost:8080", "Sec-Fetch-Site: same-origin", 200, ""},
		{"the page itself, in an old browser", loopback, "PUT", "localhost:8080", "Origin: http://localhost:8080", 200, ""},
		{"a rebound name", loopback, "PUT", "evil.com", "", 403, `Host is "evil.com"; add the name to server.hosts, or set an admin.token`},
		{"a rebound name that reads", loopback, "GET", "evil.com:8080", "Sec-Fetch-Site: same-origin", 403, `"evil.com:8080"`},
		{"a page elsewhere that sells", loopback, "POST", "127.0.0.1:8080", "Sec-Fetch-Site: cross-site", 403, "not a page of another site"},
		{"a page on another port", loopback, "POST", "localhost:8080", "Sec-Fetch-Site: same-site", 403, "not a page of another site"},
		{"an old browser elsewhere", loopback, "POST", "127.0.0.1:8080", "Origin: http://evil.com", 403, `Origin is "http://evil.com"`},
		{"a page that is a file", loopback, "DELETE", "127.0.0.1:8080", "Origin: null", 403, `Origin is "null"`},
		{"a link elsewhere", loopback, "GET", "127.0.0.1:8080", "Sec-Fetch-Site: cross-site", 200, ""},
		{"a token, any name", withToken, "PUT", "shop.example.com", "Authorization: Bearer secret", 200, ""},
		{"a token counts though it is open", withToken, "PUT", "127.0.0.1:8080", "", 401, "Authorization: Bearer <admin.token>"},
		{"no bearer", withToken, "PUT", "127.0.0.1:8080", "Authorization: Basic secret", 401, "Authorization: Bearer <admin.token>"},
		{"a token, in lower case its scheme", withToken, "DELETE", "127.0.0.1:8080", "Authorization: bearer secret", 200, ""},
		{"a wrong token", withToken, "DELETE", "127.0.0.1:8080", "Authorization: Bearer guess", 403, "this is not the admin.token"},
		{"a token, and buying without", withToken, "POST", "shop.example.com", "", 200, ""},
		{"a token, and a page elsewhere", withToken, "POST", "shop.example.com", "Sec-Fetch-Site: cross-site", 403, "not a page of another site"},
		{"nobody's", Guard{}, "PUT", "127.0.0.1", "Authorization: Bearer guess", 403, "admin.open: true"},
		{"a token, and a burst without", withToken, "POST /bursts", "shop.example.com", "", 401, "Authorization: Bearer <admin.token>"},
		{"a token, and a replica is killed", withToken, "POST /replicas/r1", "shop.example.com", "Authorization: Bearer secret", 200, ""},
		{"nobody's, and a replica is killed", Guard{}, "POST /replicas/r1", "shop.example.com", "", 403, "admin.open: true"},
		{"nobody's, and buying", Guard{}, "POST", "shop.example.com", "", 200, ""},
		{"a token, and a guest predicts", withToken, "POST /room/answer", "shop.example.com", "", 200, ""},
		{"a token, and a guest looks who is in", withToken, "GET /room/participants", "shop.example.com", "", 401, "Bearer <admin.token>"},
		{"a token, and a guest takes one out", withToken, "DELETE /room/participants/7", "shop.example.com", "", 401, "Bearer <admin.token>"},
		{"a token, and a guest looks from elsewhere", withToken, "GET /room/participants", "shop.example.com", "Sec-Fetch-Site: cross-site", 403,
			"another site"},
		{"a page elsewhere that predicts", loopback, "POST /room/answer", "localhost:8080", "Sec-Fetch-Site: cross-site", 403, "another site"},
	} {
		t.Run(c.name, func(t *testing.T) {
			method, path, other := strings.Cut(c.method, " ")
			if !other {
				path = map[string]string{"POST": SalePath, "PUT": "/lock", "DELETE": "/lock", "GET": "/lock"}[method]
			}
			request := httptest.NewRequest(method, path, http.NoBody)
			request.Host = c.host
			if name, value, ok := strings.Cut(c.header, ": "); ok {
				request.Header.Set(name, value)
			}
			recorder := serve(c.guard, request)
			var failure ErrorAnswer
			if c.status != 200 {
				if err := json.Unmarshal(recorder.Body.Bytes(), &failure); err != nil {
					t.Error(err)
				}
			}
			isForbidden := failure.Error.Code == "forbidden"
			if recorder.Code != c.status || !strings.Contains(failure.Error.Message, c.says) || (c.status == 403) != isForbidden {
				t.Errorf("got %d %+v; want %d and %q", recorder.Code, failure, c.status, c.says)
			}
		})
	}
}

// A method that a path does not have is refused as such, with or without a token. For an unknown path, the token is checked first.
func TestUnknownMethodIsRefusedBeforeToken(t *testing.T) {
	guard := Guard{Token: "secret"}
	for request, want := range map[string]struct {
		status int
		allow  string
	}{
		"PUT /lock":                          {http.StatusUnauthorized, ""},
		"POST /lock":                         {http.StatusMethodNotAllowed, "DELETE, GET, PUT"},
		"PUT /orders/x":                      {http.StatusMethodNotAllowed, "GET"},
		"DELETE /room/answer":                {http.StatusMethodNotAllowed, "POST"},
		"DELETE /room/participants/10.0.0.7": {http.StatusUnauthorized, ""},
		"PUT /orders/":                       {http.StatusUnauthorized, ""},
		"PUT /none":                          {http.StatusUnauthorized, ""},
		"POST /inventory/sale":               {http.StatusOK, ""},
	} {
		t.Run(request, func(t *testing.T) {
			method, path, _ := strings.Cut(request, " ")
			recorder := serve(guard, httptest.NewRequest(method, path, http.NoBody))
			if got := recorder.Header().Get("Allow"); recorder.Code != want.status || got != want.allow {
				t.Errorf("got %d, Allow %q; want %+v", recorder.Code, got, want)
			}
		})
	}
}

// Where only local clients may change the shop, a request that a proxy has forwarded may not, because its origin is unknown.
func TestForwardedRequestIsNotLocal(t *testing.T) {
	for name, c := range map[string]struct {
		guard  Guard
		header string
		method string
		want   int
	}{
		"none":                   {Guard{Open: true, Local: true}, "User-Agent", http.MethodPut, 200},
		"X-Forwarded-For":        {Guard{Open: true, Local: true}, "X-Forwarded-For", http.MethodPut, 403},
		"X-Forwarded-Host":       {Guard{Open: true, Local: true}, "X-Forwarded-Host", http.MethodPut, 403},
		"X-Real-IP":              {Guard{Open: true, Local: true}, "X-Real-IP", http.MethodPut, 403},
		"Forwarded":              {Guard{Open: true, Local: true}, "Forwarded", http.MethodPut, 403},
		"Via":                    {Guard{Open: true, Local: true}, "Via", http.MethodPut, 403},
		"a reader":               {Guard{Open: true, Local: true}, "X-Forwarded-For", http.MethodGet, 200},
		"open for everybody":     {Guard{Open: true}, "X-Forwarded-For", http.MethodPut, 200},
		"the token is asked for": {Guard{Token: "x", Open: true, Local: true}, "X-Forwarded-For", http.MethodPut, 401},
	} {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequest(c.method, "http://localhost/lock", http.NoBody)
			request.Header.Set(c.header, "1.2.3.4")
			response := httptest.NewRecorder()
			newGuardedHandler(c.guard).ServeHTTP(response, request)
			if response.Code != c.want {
				t.Errorf("%d %s; want %d", response.Code, response.Body, c.want)
			}
		})
	}
}
