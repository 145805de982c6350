package steps

import (
	"net/http"

	"lockstep/internal/api"
	"lockstep/internal/api/route"
)

// Routes returns three routes: of the list of steps, without their code; of one step, such as v3-v4; and of the code of the lock in the
// query parameter lock. The query parameter lang is en or zh.
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
		row("/seat/steps/{pair}", "lang", route.Value(func(r *http.Request) (detail Detail, err error) {
			in, err := api.Language(r)
			if err == nil {
				detail, err = Find(r.PathValue("pair"), in)
			}
			return detail, err
		})),
		row("/seat/code", "lock", route.Value(func(r *http.Request) ([]Excerpt, error) { return Code(r.URL.Query().Get("lock")) })),
	}
}
