package steps

import (
	"encoding/json"
	"net/http"

	"lockstep/internal/language"
	"lockstep/internal/shop/api"
)

// Handler serves GET /seat/steps, all of them without their code, and GET /seat/steps/v3-v4. The query's lang is en or zh.
func Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /seat/steps", func(w http.ResponseWriter, r *http.Request) { answer(w, All(asked(r)), nil) })
	mux.HandleFunc("GET /seat/steps/{pair}", func(w http.ResponseWriter, r *http.Request) {
		found, err := Find(r.PathValue("pair"), asked(r))
		answer(w, found, err)
	})
	return mux
}

// asked is the language of a request; English, if it names none of ours.
func asked(r *http.Request) language.Language {
	if in, err := language.Parse(r.FormValue("lang")); err == nil {
		return in
	}
	return language.English
}

func answer(w http.ResponseWriter, value any, err error) {
	if err != nil { // the sources are embedded: only the name can be wrong
		api.WriteError(w, http.StatusNotFound, "unknown_step", err)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // the client went away
}
