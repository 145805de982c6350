// Package live shows a shop to those who watch it: what its locks do, as frames that a page draws.
//
// A Hub follows the events of all replicas, only while somebody watches (hub.go): its own recorder's and those of peers (replica.go), or
// those that a cluster's front follows. It tells a witness.Account of those of the run that is on (scene.go). At most ten times a second
// it shows what that knows: critical sections, the latest sales as lanes (lanes.go), what went wrong (findings.go, story.go), and the
// stock (scene.go). Frames are values (frames.go); each is written once in every language, kept, and streamed (stream.go). A Hub is
// bounded, whatever the shop does: in events, in frames, in time.
//
// Beside it are two sales drawn from what they sent (pair.go), bursts of buyers (bursts.go), and what can be done to the embedded masters
// of Redlock (nodes.go).
package live

import (
	"context"
	"errors"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/api/route"
	"lockstep/internal/lock"
	"lockstep/internal/service/history"
	"lockstep/internal/witness"
)

// Shop is what a hub shows.
type Shop interface {
	// Follow tells see of the events of all replicas, those that are still known first, until ctx ends.
	Follow(ctx context.Context, see func(...witness.Event))
	// Look gives the run as it is.
	RunState(ctx context.Context) (RunState, error)
}

// ErrRunDue means that there is no run to look at, though Redis answers: one begins as soon as the sales in flight have ended.
var ErrRunDue = errors.New("a new run begins when the sales in flight have ended")

// AskAgain is how long a Shop may take to tell whether Redis answers, once a look has failed.
const RecheckTimeout = 500 * time.Millisecond

// Look is a run at one moment.
type RunState struct {
	Report   history.Report
	Settings api.Settings
	Replicas []string // names; nil: those that the events name
}

var errShuttingDown = lock.WithCode("ending", "the server is ending")

// Server is what is served of a shop to those who watch it, by a server or by a cluster's front.
type Server struct {
	Hub     *Hub
	Bursts  *Bursts
	Streams *api.Streams // bounds those of the hub; nil: there is no bound
}

// Routes returns the routes of those who watch.
func (s *Server) Routes() []route.Row {
	return []route.Row{
		route.On("GET", "/live", route.Participant, route.Front, s.Streams.Bound(s.Hub.stream)),
		route.On("GET", "/live/pair", route.Participant, route.Front, s.Hub.answerPair),
		route.On("POST", "/bursts", route.Administrator, route.Front, s.Bursts.post),
		route.On("GET", "/bursts/{id}", route.Reader, route.Front, s.Bursts.get),
		route.On("DELETE", "/bursts/{id}", route.Administrator, route.Front, s.Bursts.cancel),
	}
}

// Close ends what watchers see, and the burst that is going on.
func (s *Server) Close() {
	s.Bursts.Close()
	s.Hub.Close()
}
