package steps

import (
	"net/http"

	"lockstep/internal/language"
	"lockstep/internal/shop/api"
)

// Handler serves GET /seat/steps, all of them without their code, and GET /seat/steps/v3-v4. The query's lang is en or zh. It also serves
// GET /seat/code, what runs under the query's lock.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /seat/steps", func(w http.ResponseWriter, r *http.Request) {
		api.Answer(w, All(language.Named(r.FormValue("lang"))), nil)
	})
	mux.HandleFunc("GET /seat/steps/{pair}", func(w http.ResponseWriter, r *http.Request) {
		found, err := Find(r.PathValue("pair"), language.Named(r.FormValue("lang")))
		api.Answer(w, found, err)
	})
	mux.HandleFunc("GET /seat/code", func(w http.ResponseWriter, r *http.Request) {
		code, err := Code(r.FormValue("lock"))
		api.Answer(w, code, err)
	})
	return mux
}
