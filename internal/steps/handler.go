package steps

import (
	"net/http"

	"lockstep/internal/api"
	"lockstep/internal/api/route"
)

// Routes returns the routes of all steps without their code, of one, such as v3-v4, and of what runs under the query's lock. The query's
// lang is en or zh.
func Routes() []route.Row {
	row := func(path, parameter string, handle route.Handler) route.Row {
		return route.On("GET", path, route.Participant, route.Replica, route.Cached(handle, route.ByQuery(parameter)))
	}
	return []route.Row{
		row("/seat/steps", "lang", route.Value(func(r *http.Request) (all []Step, err error) {
			in, err := api.Language(r)
			if err == nil {
				all = All(in)
			}
			return all, err
		})),
		row("/seat/steps/{pair}", "lang", route.Value(func(r *http.Request) (found Detail, err error) {
			in, err := api.Language(r)
			if err == nil {
				found, err = Find(r.PathValue("pair"), in)
			}
			return found, err
		})),
		row("/seat/code", "lock", route.Value(func(r *http.Request) ([]Part, error) { return Code(r.URL.Query().Get("lock")) })),
	}
}
