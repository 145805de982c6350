// Package live shows a running shop to its watchers. It sends what the shop's locks do, as frames that a page draws.
//
// A Hub follows the events of all replicas while at least one client watches (hub.go): those of its own recorder and of peers
// (replica.go), or those that a cluster's reverse proxy follows. It passes the events of the current run to a witness.Account (scene.go).
// At most ten times a second it sends what the account knows: critical sections, the latest sales as lanes (lanes.go), findings
// (findings.go), the story of what went wrong (story.go), and the stock (stock_lines.go). Frames are plain values (frames.go); each is
// encoded once in every language, kept, and streamed (stream.go). A Hub's memory, frames and time are bounded, whatever the shop does.
//
// The package also draws two sales as a sequence diagram (pair.go), sends bursts of buyers (bursts.go), and controls the embedded masters
// of Redlock (nodes.go).
//
// Begin with Hub, then frames.go.
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

// Shop is the source of a Hub: the events and the state of a running shop.
type Shop interface {
	// Follow calls onEvents with the events of all replicas, the known ones first, until ctx ends.
	Follow(ctx context.Context, onEvents func(...witness.Event))
	// RunState returns the current state of the run. It fails with ErrRunDue if Redis answers but has no run, and otherwise with the reason
	// why Redis does not answer.
	RunState(ctx context.Context) (RunState, error)
}

// ErrRunDue is returned by Shop.RunState when Redis answers but has no run: a new one begins as soon as the sales in flight have ended.
var ErrRunDue = errors.New("a new run begins when the sales in flight have ended")

// RecheckTimeout is the time limit within which a Shop that failed to get the run's state finds out whether Redis answers.
const RecheckTimeout = 500 * time.Millisecond

// RunState is the state of a run at one moment.
type RunState struct {
	Report   history.Report // report of GET /inventory
	Settings api.Settings   // settings of the run
	Replicas []string       // names of the replicas; nil: unknown, so they are taken from the events
}

// errShuttingDown is returned to requests that come while the server shuts down.
var errShuttingDown = lock.WithCode("ending", "the server is ending")

// Server serves a shop's live view, in a server or in a cluster's reverse proxy.
type Server struct {
	Hub     *Hub         // source of the streams
	Bursts  *Bursts      // bursts of buyers
	Streams *api.Streams // bound on the hub's open streams; nil: no bound
}

// Routes returns the routes of the live view.
func (s *Server) Routes() []route.Row {
	return []route.Row{
		route.On("GET", "/live", route.Participant, route.Front, s.Streams.Limit(s.Hub.stream)),
		route.On("GET", "/live/pair", route.Participant, route.Front, s.Hub.answerPair),
		route.On("POST", "/bursts", route.Administrator, route.Front, s.Bursts.post),
		route.On("GET", "/bursts", route.Reader, route.Front, s.Bursts.list),
		route.On("GET", "/bursts/{id}", route.Reader, route.Front, s.Bursts.get),
		route.On("DELETE", "/bursts/{id}", route.Administrator, route.Front, s.Bursts.cancel),
	}
}

// Close ends all streams and the running burst.
func (s *Server) Close() {
	s.Bursts.Close()
	s.Hub.Close()
}
