package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/lock"
	"lockstep/internal/witness"
)

var (
	errNoSuchReplica = lock.WithCode("no_such_replica", "there is no replica of that name; GET /replicas lists them")
	errNotRunning    = lock.WithCode("not_running", "the replica is not running: it is being started again")
	// ErrCannotPause means that this system cannot pause a process.
	ErrCannotPause = lock.WithCode("cannot_pause", "this system cannot stop a process and let it go on")
)

const wantDo = `want {"do":"pause"}, {"do":"resume"} or {"do":"kill"}`

// Tell has see told of what happens to replicas from now on.
func (c *Cluster) Tell(see func(witness.Event)) {
	c.told.Store(&see)
}

func (c *Cluster) note(event witness.Event) {
	if told := c.told.Load(); told != nil {
		(*told)(event)
	}
}

func (r *Replica) note(kind witness.Kind) {
	if r.noted != nil {
		now := time.Now()
		r.noted(witness.Event{Replica: r.Name, Kind: kind, Sent: now, Replied: now})
	}
}

// doToReplica answers POST /replicas/{name}: it stops a replica, lets it go on, or kills it.
func (f *Front) doToReplica(w http.ResponseWriter, r *http.Request) error {
	name := r.PathValue("name")
	var want struct {
		Do string `json:"do"`
	}
	if err := api.Read(r, &want); err != nil {
		return api.BadRequest(err, wantDo)
	}
	if err := f.Cluster.Do(name, want.Do); err != nil {
		return err
	}
	f.Log.Info("replica: as asked", "replica", name, "do", want.Do)
	return f.list(w, r)
}

// Do does something to the process of a replica: "pause" stops it, "resume" lets it go on, "kill" kills it. It is started again then.
func (c *Cluster) Do(name, what string) error {
	for _, replica := range c.replicas {
		if replica.Name == name {
			return replica.do(what)
		}
	}
	return fmt.Errorf("%.80q: %w", name, errNoSuchReplica)
}

// do does what was asked to the replica's process.
func (r *Replica) do(what string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pid == 0 {
		return errNotRunning
	}
	var err error
	switch {
	case what == "kill":
		var process *os.Process
		if process, err = os.FindProcess(r.pid); err == nil {
			err = process.Kill() // that it dies is noted when it has
		}
	case what != "pause" && what != "resume":
		return api.BadRequest(fmt.Errorf("%.80q", what), wantDo)
	case r.stopped == (what == "pause"):
		return nil
	case what == "pause":
		err = Pause(r.pid)
	default:
		err = Resume(r.pid)
	}
	if errors.Is(err, ErrCannotPause) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errNotRunning, err)
	}
	if what != "kill" {
		r.stopped = what == "pause"
		r.note(map[bool]witness.Kind{true: witness.KindStops, false: witness.KindResumes}[r.stopped])
	}
	return nil
}
