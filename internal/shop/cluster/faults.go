package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"lockstep/internal/shop/api"
	"lockstep/internal/watch/witness"
)

var (
	errNoSuchReplica = errors.New("there is no replica of that name; GET /replicas lists them")
	errNotRunning    = errors.New("the replica is not running: it is being started again")
	errReplicaDo     = errors.New(`want {"do":"pause"}, {"do":"resume"} or {"do":"kill"}`)
	errCannotPause   = errors.New("this system cannot stop a process and let it go on")
)

// Tell has see told of what happens to replicas from now on.
func (c *Cluster) Tell(see func(witness.Event)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = see
}

func (c *Cluster) note(event witness.Event) {
	c.mu.Lock()
	told := c.told
	c.mu.Unlock()
	if told != nil {
		told(event)
	}
}

func (r *Replica) note(kind witness.Kind) {
	if r.noted != nil {
		now := time.Now()
		r.noted(witness.Event{Replica: r.Name, Kind: kind, Sent: now, Replied: now})
	}
}

// doToReplica answers POST /replicas/{name}: it stops a replica, lets it go on, or kills it.
func (f *Front) doToReplica(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/replicas/")
	var want struct {
		Do string `json:"do"`
	}
	if err := api.Read(r, &want); err != nil {
		api.WriteError(w, http.StatusBadRequest, "bad_request", fmt.Errorf("bad request: %w; %w", err, errReplicaDo))
		return
	}
	for _, replica := range f.Cluster.replicas {
		if replica.Name != name {
			continue
		}
		if status, code, err := replica.do(want.Do); err != nil {
			api.WriteError(w, status, code, err)
			return
		}
		f.Log.Info("replica: as asked", "replica", name, "do", want.Do)
		f.list(w, r)
		return
	}
	api.WriteError(w, http.StatusNotFound, "no_such_replica", fmt.Errorf("%.80q: %w", name, errNoSuchReplica))
}

// do does what was asked to the replica's process; if that fails, it gives the status and the code of the error, too.
func (r *Replica) do(what string) (status int, code string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pid == 0 {
		return http.StatusConflict, "not_running", errNotRunning
	}
	process, err := os.FindProcess(r.pid)
	if err != nil {
		return http.StatusConflict, "not_running", fmt.Errorf("%w: %w", errNotRunning, err)
	}
	switch {
	case what == "kill":
		err = process.Kill() // that it dies is noted when it has
	case what != "pause" && what != "resume":
		return http.StatusBadRequest, "bad_request", fmt.Errorf("bad request: %.80q; %w", what, errReplicaDo)
	case r.stopped == (what == "pause"):
		return http.StatusOK, "", nil
	case what == "pause":
		err = stopProcess(process)
	default:
		err = continueProcess(process)
	}
	if errors.Is(err, errCannotPause) {
		return http.StatusNotImplemented, "cannot_pause", err
	}
	if err != nil {
		return http.StatusConflict, "not_running", fmt.Errorf("%w: %w", errNotRunning, err)
	}
	if what != "kill" {
		r.stopped = what == "pause"
		r.note(map[bool]witness.Kind{true: witness.KindStops, false: witness.KindGoes}[r.stopped])
	}
	return http.StatusOK, "", nil
}
