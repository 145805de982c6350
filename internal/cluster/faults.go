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
	errNoSuchReplica = lock.WithCode("no_such_replica", "there is no replica of that name; GET /replicas lists all replicas")
	errNotRunning    = lock.WithCode("not_running", "the replica is not running: it is being restarted")
	// ErrCannotPause is returned when the operating system cannot pause a process.
	ErrCannotPause = lock.WithCode("cannot_pause", "this operating system cannot pause and resume a process")
)

// wantDo describes the body of POST /replicas/{name}.
const wantDo = `want {"do":"pause"}, {"do":"resume"} or {"do":"kill"}`

// OnEvent registers onEvent as the observer of what happens to replicas: KindStops, KindResumes and KindDies. It replaces an earlier one.
func (c *Cluster) OnEvent(onEvent func(witness.Event)) {
	c.onEvent.Store(&onEvent)
}

// notify passes an event on to the observer, if there is one.
func (c *Cluster) notify(event witness.Event) {
	if onEvent := c.onEvent.Load(); onEvent != nil {
		(*onEvent)(event)
	}
}

// notify reports that something happens to the replica now.
func (r *Replica) notify(kind witness.Kind) {
	if r.onEvent != nil {
		now := time.Now()
		r.onEvent(witness.Event{Replica: r.Name, Kind: kind, Sent: now, Replied: now})
	}
}

// doToReplica handles POST /replicas/{name}: it pauses, resumes or kills a replica, and answers as GET /replicas does.
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
	f.Log.Info("replica action done", "replica", name, "do", want.Do)
	return f.list(w, r)
}

// Do applies an action to the process of a replica: "pause" stops it, "resume" continues it, and "kill" kills it, after which it is
// restarted. It fails with errors that have a code: no_such_replica, not_running, cannot_pause, or that of a bad request.
func (c *Cluster) Do(name, action string) error {
	for _, replica := range c.replicas {
		if replica.Name == name {
			return replica.do(action)
		}
	}
	return fmt.Errorf("%.80q: %w", name, errNoSuchReplica)
}

// do applies an action to the replica's process.
func (r *Replica) do(action string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pid == 0 {
		return errNotRunning
	}
	var err error
	switch {
	case action == "kill":
		var process *os.Process
		if process, err = os.FindProcess(r.pid); err == nil {
			err = process.Kill() // run reports KindDies when the process has exited.
		}
	case action != "pause" && action != "resume":
		return api.BadRequest(fmt.Errorf("%.80q", action), wantDo)
	case r.stopped == (action == "pause"):
		return nil
	case action == "pause":
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
	if action != "kill" {
		r.stopped = action == "pause"
		if r.stopped {
			r.notify(witness.KindStops)
		} else {
			r.notify(witness.KindResumes)
		}
	}
	return nil
}
