package steps

import (
	"net/http"
	"sync"

	"lockstep/internal/language"
	"lockstep/internal/shop/api"
	"lockstep/internal/shop/route"
)

// Routes returns the routes of all steps without their code, of one, such as v3-v4, and of what runs under the query's lock. The query's
// lang is en or zh.
func Routes() []route.Row {
	type named struct {
		pair string
		in   language.Language
	}
	pairs := &kept[named, Detail]{find: func(n named) (Detail, error) { return Find(n.pair, n.in) }}
	codes := &kept[string, []Part]{find: Code}
	return []route.Row{
		route.On("GET", "/seat/steps", route.Participant, route.Replica, route.Value(func(r *http.Request) (all []Step, err error) {
			in, err := api.Language(r)
			if err == nil {
				all = All(in)
			}
			return all, err
		})),
		route.On("GET", "/seat/steps/{pair}", route.Participant, route.Replica, route.Value(func(r *http.Request) (found Detail, err error) {
			in, err := api.Language(r)
			if err == nil {
				found, err = pairs.get(named{r.PathValue("pair"), in})
			}
			return found, err
		})),
		route.On("GET", "/seat/code", route.Participant, route.Replica, route.Value(func(r *http.Request) ([]Part, error) {
			return codes.get(r.FormValue("lock"))
		})),
	}
}

// kept is what was found, which is always the same. One looks at a time. What is not found is not kept: so it is bounded.
type kept[Key comparable, Found any] struct {
	find func(Key) (Found, error)

	mu  sync.Mutex
	all map[Key]Found
}

func (k *kept[Key, Found]) get(key Key) (found Found, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	found, known := k.all[key]
	if known {
		return found, nil
	}
	if found, err = k.find(key); err == nil {
		if k.all == nil {
			k.all = map[Key]Found{}
		}
		k.all[key] = found
	}
	return found, err
}
