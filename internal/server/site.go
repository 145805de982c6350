//go:build !js

package server

import (
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

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
	limits := seat.DefaultLimits()
	limits.Cell.Time = 0 // nobody waits for the table, and it is kept
	labs := lab.Runner{Environment: lab.TabEnvironment(nil, ""), Rights: "open"}
	rows := slices.Concat(
		(&api.API{}).Routes(), seat.New(limits, nil).Routes(), steps.Routes(), classroom.New(docs.Course()).Routes(), labs.Routes(),
	)
	return site.Site{
		Root: root, Kept: filepath.Join(cache, "lockstep", "site"), Page: web.TabFiles, Answers: route.Mux(rows...), Record: record,
	}, nil
}

// findTab returns the directory of the page in a tab: of a release, or built from the sources here.
func findTab() (dir string, there bool) {
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
}

// newLabs returns what lists the labs, and runs them on this machine by a program, for who is at this machine or has the token. A server
// that others may change without a token runs none.
func newLabs(guard api.Guard, program string) *lab.Runner {
	var found atomic.Bool
	labs := &lab.Runner{Tab: func() bool {
		if !found.Load() {
			_, there := findTab()
			found.Store(there)
		}
		return found.Load()
	}}
	if program != "" && (guard.Token != "" || guard.Open && guard.Local) {
		labs.Environment, labs.Rights = lab.Machine(program), adminRights(guard)
	}
	return labs
}
