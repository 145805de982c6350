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

// Site returns the builder of the page in a tab, for the module whose tree has the directory dir.
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
	limits.Cell.Time = 0 // No limit: no one waits for the table, and it is cached.
	labs := lab.Runner{Environment: lab.TabEnvironment(nil, ""), Rights: "open"}
	rows := slices.Concat(
		(&api.API{}).Routes(), seat.New(limits, nil).Routes(), steps.Routes(), classroom.New(docs.Course()).Routes(), labs.Routes(),
	)
	return site.Site{
		Root: root, Cache: filepath.Join(cache, "lockstep", "site"), Page: web.TabFiles, Answers: route.Mux(rows...), Record: record,
	}, nil
}

// findTab returns the directory of the page in a tab: that of a release, or that built from the sources in the working directory.
func findTab() (dir string, ok bool) {
	if dir, ok = site.FindReleased(); ok {
		return dir, true
	}
	workingDir, err := os.Getwd()
	if err != nil {
		return "", false
	}
	builder, err := Site(workingDir)
	if err == nil {
		dir, ok, err = builder.Find()
	}
	return dir, err == nil && ok
}

// newLabs returns a runner that lists the labs, and runs them on this machine with the executable program, for clients on this machine or
// with the token. A server that anyone may change without a token runs no labs.
func newLabs(guard api.Guard, program string) *lab.Runner {
	var found atomic.Bool
	labs := &lab.Runner{Tab: func() bool {
		if !found.Load() {
			_, ok := findTab()
			found.Store(ok)
		}
		return found.Load()
	}}
	if program != "" && (guard.Token != "" || guard.Open && guard.Local) {
		labs.Environment, labs.Rights = lab.MachineEnvironment(program), adminRights(guard)
	}
	return labs
}
