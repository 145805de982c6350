package steps

import (
	"net/http"
	"sync"

	"lockstep/internal/language"
	"lockstep/internal/shop/api"
)

// Handler serves GET /seat/steps, all of them without their code, and GET /seat/steps/v3-v4. The query's lang is en or zh. It also serves
// GET /seat/code, what runs under the query's lock.
func Handler() http.Handler {
	type named struct {
		pair string
		in   language.Language
	}
	pairs := &kept[named, Detail]{find: func(n named) (Detail, error) { return Find(n.pair, n.in) }}
	codes := &kept[string, []Part]{find: Code}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /seat/steps", func(w http.ResponseWriter, r *http.Request) {
		in, err := api.Language(r)
		if err != nil {
			api.Answer(w, nil, err)
			return
		}
		api.Answer(w, All(in), nil)
	})
	mux.HandleFunc("GET /seat/steps/{pair}", func(w http.ResponseWriter, r *http.Request) {
		in, err := api.Language(r)
		if err != nil {
			api.Answer(w, nil, err)
			return
		}
		found, err := pairs.get(named{r.PathValue("pair"), in})
		api.Answer(w, found, err)
	})
	mux.HandleFunc("GET /seat/code", func(w http.ResponseWriter, r *http.Request) {
		code, err := codes.get(r.FormValue("lock"))
		api.Answer(w, code, err)
	})
	return mux
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
