//go:build !js

package server

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"lockstep/docs"
	"lockstep/internal/api"
	"lockstep/internal/api/route"
	"lockstep/internal/classroom"
	"lockstep/internal/exercise"
	"lockstep/internal/explore/seat"
	"lockstep/internal/lab"
	"lockstep/internal/site"
	"lockstep/internal/steps"
	"lockstep/internal/web"
)

// tabPath is where a server offers the page that runs in a tab.
const tabPath = "/tab/"

// Site returns what the page in a tab is built from: the sources that a directory is in.
func Site(dir string) (site.Site, error) {
	root, err := exercise.FindRoot(dir)
	if err != nil {
		return site.Site{}, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return site.Site{}, err
	}
	limits := seat.Usual()
	limits.Cell.Time = 0 // nobody waits for the table, and it is kept
	rows := slices.Concat(
		(&api.API{}).Routes(), seat.New(limits, nil).Routes(), steps.Routes(), classroom.New(docs.Course()).Routes(), lab.Routes(),
	)
	return site.Site{
		Root: root, Kept: filepath.Join(cache, "lockstep", "site"), Page: web.TabFiles, Answers: route.Mux(rows...), Record: record,
	}, nil
}

// tab serves the page in a tab, if it is there.
func tab() http.Handler {
	return site.Handler(tabPath, web.TabPolicy, func() (dir string, there bool) {
		if dir, there = site.Released(); there {
			return dir, true
		}
		here, err := os.Getwd()
		if err != nil {
			return "", false
		}
		from, err := Site(here)
		if err == nil {
			dir, there, err = from.Find()
		}
		return dir, err == nil && there
	})
}
