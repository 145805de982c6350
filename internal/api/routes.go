package api

import (
	"cmp"
	"fmt"
	"net/http"

	"lockstep/internal/api/answer"
	"lockstep/internal/api/route"
	"lockstep/internal/language"
)

// SalePath is the path of a sale.
const SalePath = "/inventory/sale"

// Routes returns the routes of the shop itself. The other parts of a server have their own.
func (a *API) Routes() []route.Row {
	rows := []route.Row{
		route.On("GET", "/openapi.json", route.Reader, route.Replica, route.Cached(document, route.ByQuery())),
		route.On("GET", "/healthz", route.Reader, route.Replica, route.Value(a.healthz)),
		route.On("GET", "/readyz", route.Reader, route.Replica, route.Value(a.readyz)),
		route.On("GET", "/metrics", route.Reader, route.Replica, route.FromHandler(a.Metrics)),
		route.On("GET", "/settings", route.Reader, route.Replica, route.Value(a.settings)),
		route.On("PUT", "/settings", route.Administrator, route.Replica, route.Value(a.putSettings)),
		route.On("POST", SalePath, route.Participant, route.Replica, a.sale),
		route.On("GET", "/inventory", route.Reader, route.Replica, route.Value(a.inventory)),
		route.On("PUT", "/inventory", route.Administrator, route.Replica, route.Value(a.putInventory)),
		route.On("GET", "/orders/{id}", route.Reader, route.Replica, route.Value(a.order)),
		route.On("GET", "/lock", route.Reader, route.Replica, route.Value(a.lock)),
		route.On("PUT", "/lock", route.Administrator, route.Replica, route.Value(a.putLock)),
		route.On("DELETE", "/lock", route.Administrator, route.Replica, route.Value(a.deleteLock)),
	}
	for i := range rows {
		rows[i].Handle = a.logged(rows[i].Handle)
	}
	return rows
}

// logged returns a handler that logs the server errors (status 5xx) of handle.
func (a *API) logged(handle route.Handler) route.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		err := handle(w, r)
		if status, code := answer.StatusOf(err); err != nil && status >= http.StatusInternalServerError {
			a.Log.Warn(r.Method+" "+r.URL.Path, "status", status, "code", code, "error", err)
		}
		return err
	}
}

// Language returns the language named by the query parameter lang; the default is English.
func Language(r *http.Request) (language.Language, error) {
	in, err := language.Parse(cmp.Or(r.URL.Query().Get("lang"), string(language.English)))
	if err != nil {
		return in, BadRequest(fmt.Errorf("lang: %w", err), "as in ?lang=zh")
	}
	return in, nil
}
