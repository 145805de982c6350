// Package cluster is a room: several replicas of this program, each as a process. If they are servers, its front spreads the requests.
//
// In it: job (a job that replicas run, and that may run once).
// May import: watch, shop, dao and the locks.
// Begin with: Start and Front.
package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/internal/witness"
)

// A replica that ends is started again after a pause, which doubles as long as it ends soon after its start.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
	young      = 5 * time.Second
)

// State is what a replica is doing.
type State string

// The states.
const (
	Starting   State = "starting"
	Up         State = "up"
	Paused     State = "paused" // by us
	Hung       State = "hung"   // its process is there, but does not answer
	Restarting State = "restarting"
	Ended      State = "ended"
)

// Replica is one process, started again whenever it ends by itself.
type Replica struct {
	Name    string
	command func() *exec.Cmd
	grace   time.Duration // how long it may take to end when it is asked to
	log     *slog.Logger
	held    atomic.Int64 // requests of the front that it has not answered
	noted   func(witness.Event)

	mu        sync.Mutex
	state     State
	addr      string
	pid       int
	restarts  int
	heard     time.Time       // when it answered last
	hungSince time.Time       // when it was noticed that it hangs
	stopped   bool            // by us
	trust     context.Context //nolint:containedctx // it ends when the replica is given up: for the requests it holds, whenever they came
	giveUp    context.CancelFunc
}

// newReplica makes a replica of a command. The command prints in its first line that it is up, with its address if it is a server, and
// ends when its standard input does: that works on every system, even if this process is killed. What it prints after its first line goes
// to the command's Stdout.
func newReplica(name string, command func() *exec.Cmd, grace time.Duration, log *slog.Logger) *Replica {
	r := &Replica{Name: name, command: command, grace: grace, log: log.With("replica", name)}
	r.set(Starting, "", 0)
	return r
}

// run keeps the process running until ctx ends; then it ends the process and waits for its end. It calls ready once: when the process is
// up, or with the error why it is not.
func (r *Replica) run(ctx context.Context, ready func(error)) {
	defer r.set(Ended, "", 0)
	pause := firstPause
	for first := true; ; first = false {
		began := time.Now()
		ended, err := r.start(ctx)
		switch {
		case first:
			ready(err)
			if err != nil {
				return
			}
		case err == nil:
			up := r.answer()
			r.log.Info("replica is up again", "address", up.Address, "pid", up.PID)
		}
		if err == nil {
			if err = <-ended; err == nil {
				err = errors.New("exit status 0")
			}
		}
		if ctx.Err() != nil {
			return
		}
		r.note(witness.KindDies)
		r.set(Restarting, "", 0)
		if time.Since(began) > young {
			pause = firstPause
		}
		r.log.Error("replica ended: starting it again", "why", err, "after", pause)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

var firstLine = regexp.MustCompile(`^lockstep: (?:http://(\S+))?`)

// start starts the process and waits until it is up. ended has its error when it ends, by itself or because ctx has ended.
func (r *Replica) start(ctx context.Context) (ended <-chan error, err error) {
	cmd := r.command()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	said := cmd.Stdout
	if said == nil {
		said = io.Discard
	}
	cmd.Stdout = nil // it is read here first
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.SysProcAttr = ownGroup()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", r.Name, err)
	}
	gone := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { r.end(cmd.Process, stdin, gone) })
	lines := bufio.NewReader(stdout)
	line, err := lines.ReadString('\n')
	up := firstLine.FindStringSubmatch(line)
	end := make(chan error, 1)
	go func() {
		defer stop()
		defer close(gone)
		_, _ = io.Copy(said, lines)
		_, _ = io.Copy(io.Discard, lines) // even if Stdout is closed, the process must not block on its output
		end <- cmd.Wait()
	}()
	if err != nil || up == nil {
		_ = stdin.Close()
		return nil, errors.Join(fmt.Errorf("%s did not start; the lines above say why", r.Name), <-end)
	}
	r.set(Up, up[1], cmd.Process.Pid)
	return end, nil
}

// end ends a process, and waits until it is gone. One that does not end in its grace (it may be stopped), or that is given up, is killed.
func (r *Replica) end(process *os.Process, stdin io.Closer, gone <-chan struct{}) {
	_ = stdin.Close() // if that fails, it has ended
	_, _, trust := r.reach()
	select {
	case <-gone:
		return
	case <-time.After(r.grace):
	case <-trust.Done():
	}
	_ = process.Kill() // if that fails, it has ended
}

// set puts the replica into another state.
func (r *Replica) set(state State, addr string, pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.addr, r.pid, r.heard, r.stopped = state, addr, pid, time.Now(), false
	r.trust, r.giveUp = context.WithCancel(context.Background())
	if state == Restarting {
		r.restarts++
	}
}

// reach gives the replica's address, empty if it is not up; whether it hangs; and a context that ends when it is given up.
func (r *Replica) reach() (address string, hangs bool, trust context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.addr, r.state == Hung, r.trust
}

var errInterrupted = errors.New("told to end before every replica was up")

// Cluster is the replicas.
type Cluster struct {
	replicas []*Replica
	told     atomic.Pointer[func(witness.Event)] // of what happens to replicas; nil: nobody
	stop     context.CancelFunc
	ended    sync.WaitGroup
}

// Start starts n replicas named r1, r2, … by the commands that command makes for these names. It waits until all are up; if one of them
// cannot start, it ends all. A replica that does not end within its grace is killed.
func Start(
	ctx context.Context, n int, command func(name string) *exec.Cmd, grace time.Duration, log *slog.Logger,
) (*Cluster, error) {
	live, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &Cluster{stop: stop}
	for i := range n {
		name := fmt.Sprintf("r%d", i+1)
		replica := newReplica(name, func() *exec.Cmd { return command(name) }, grace, log)
		replica.noted = c.note
		c.replicas = append(c.replicas, replica)
		ready := make(chan error, 1)
		c.ended.Go(func() { replica.run(live, func(err error) { ready <- err }) })
		var err error
		select { // one after the other: the first begins the run, the others join it
		case err = <-ready:
		case <-ctx.Done():
			err = errInterrupted
		}
		if err != nil {
			c.Stop()
			return nil, err
		}
	}
	return c, nil
}

// Replicas says what each replica is doing.
func (c *Cluster) Replicas() []ReplicaAnswer {
	answers := make([]ReplicaAnswer, len(c.replicas))
	for i, replica := range c.replicas {
		answers[i] = replica.answer()
	}
	return answers
}

// Stop ends every replica after its sales in flight, and waits for the end.
func (c *Cluster) Stop() {
	c.stop()
	c.ended.Wait()
}
