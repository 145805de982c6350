// Package cluster runs several replicas of this program, each as a process of its own. If they are servers, Front is their reverse proxy
// and distributes the requests.
//
// In it: job (a scheduled job that only one of the replicas runs at each tick).
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

// A replica that exits is restarted after a pause, which doubles each time that it exits soon after its start.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
	minUptime  = 5 * time.Second // a replica that ran for longer is restarted after firstPause again
)

// State is the state of a replica, as GET /replicas shows it.
type State string

// The states of a replica.
const (
	Starting   State = "starting"
	Up         State = "up"
	Paused     State = "paused" // stopped by Do, until it is resumed
	Hung       State = "hung"   // running, but does not answer health checks
	Restarting State = "restarting"
	Ended      State = "ended"
)

// Replica is one replica: a process that is restarted whenever it exits by itself.
type Replica struct {
	Name            string
	command         func() *exec.Cmd // makes the command of a new process
	grace           time.Duration    // time to shut down before the process is killed
	log             *slog.Logger
	pendingRequests atomic.Int64        // number of the front's requests that it has not answered
	onEvent         func(witness.Event) // observer of its events; nil: none

	mu         sync.Mutex
	state      State
	addr       string          // host:port of its HTTP server; empty: not up, or no server
	pid        int             // process id; 0: not running
	restarts   int             // number of restarts
	lastAnswer time.Time       // time of its last answer
	hungSince  time.Time       // time at which it was found hung
	stopped    bool            // paused by Do
	alive      context.Context //nolint:containedctx // cancelled when the replica is given up; bounds all of its pending requests
	giveUp     context.CancelFunc
}

// newReplica makes a replica that runs a command. The command must print a first line when it is up, with its address if it is a server:
// see firstLine. It must exit when its standard input ends, which works on every system, even if this process is killed. Its further output
// goes to the command's Stdout.
func newReplica(name string, command func() *exec.Cmd, grace time.Duration, log *slog.Logger) *Replica {
	r := &Replica{Name: name, command: command, grace: grace, log: log.With("replica", name)}
	r.set(Starting, "", 0)
	return r
}

// run keeps the process running until ctx ends; then it stops the process and waits for its exit. It calls ready once: with nil when the
// first process is up, or with the error that kept it from starting.
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
		r.notify(witness.KindDies)
		r.set(Restarting, "", 0)
		if time.Since(began) > minUptime {
			pause = firstPause
		}
		r.log.Error("replica exited; restarting it", "why", err, "after", pause)
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, lastPause)
	}
}

// firstLine matches the first line of a replica that is up; its group is the address of a server, without http://.
var firstLine = regexp.MustCompile(`^lockstep: (?:http://(\S+))?`)

// start starts the process and waits until it is up. ended receives the error of the process when it exits, by itself or because ctx ended.
func (r *Replica) start(ctx context.Context) (ended <-chan error, err error) {
	cmd := r.command()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	output := cmd.Stdout
	if output == nil {
		output = io.Discard
	}
	cmd.Stdout = nil // StdoutPipe, which reads the first line, requires it.
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
		_, _ = io.Copy(output, lines)
		_, _ = io.Copy(io.Discard, lines) // If output fails, the process must still not block on a full pipe.
		end <- cmd.Wait()
	}()
	if err != nil || up == nil {
		_ = stdin.Close()
		return nil, errors.Join(fmt.Errorf("%s did not start; see the lines above for the reason", r.Name), <-end)
	}
	r.set(Up, up[1], cmd.Process.Pid)
	return end, nil
}

// end asks a process to exit, and waits until it has. A process that does not exit within its grace period (it may be paused), or that is
// given up, is killed.
func (r *Replica) end(process *os.Process, stdin io.Closer, gone <-chan struct{}) {
	_ = stdin.Close() // This fails only if the process has exited.
	_, _, alive := r.endpoint()
	select {
	case <-gone:
		return
	case <-time.After(r.grace):
	case <-alive.Done():
	}
	_ = process.Kill() // This fails only if the process has exited.
}

// set puts the replica into a new state, with the address and the id of its process, and gives it a new alive context.
func (r *Replica) set(state State, addr string, pid int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.addr, r.pid, r.lastAnswer, r.stopped = state, addr, pid, time.Now(), false
	r.alive, r.giveUp = context.WithCancel(context.Background())
	if state == Restarting {
		r.restarts++
	}
}

// endpoint returns the replica's address, which is empty if it is not up; whether it hangs; and a context that ends when it is given up.
func (r *Replica) endpoint() (address string, hangs bool, alive context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.addr, r.state == Hung, r.alive
}

// errInterrupted is returned by Start when its context ends before all replicas are up.
var errInterrupted = errors.New("interrupted before all replicas were up")

// Cluster is a set of replicas, which Start makes.
type Cluster struct {
	replicas []*Replica
	onEvent  atomic.Pointer[func(witness.Event)] // observer of replica events; nil: none
	stop     context.CancelFunc
	ended    sync.WaitGroup // one Replica.run per replica
}

// Start starts n replicas named r1, r2, … with the commands that command makes for these names. It waits until all are up; if one cannot
// start, it stops all of them. A replica that does not exit within its grace period is killed.
func Start(
	ctx context.Context, n int, command func(name string) *exec.Cmd, grace time.Duration, log *slog.Logger,
) (*Cluster, error) {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &Cluster{stop: stop}
	for i := range n {
		name := fmt.Sprintf("r%d", i+1)
		replica := newReplica(name, func() *exec.Cmd { return command(name) }, grace, log)
		replica.onEvent = c.notify
		c.replicas = append(c.replicas, replica)
		ready := make(chan error, 1)
		c.ended.Go(func() { replica.run(running, func(err error) { ready <- err }) })
		var err error
		select { // Start them one by one: the first begins the run, and the others join it.
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

// Replicas returns the state of each replica, without its lock.
func (c *Cluster) Replicas() []ReplicaAnswer {
	answers := make([]ReplicaAnswer, len(c.replicas))
	for i, replica := range c.replicas {
		answers[i] = replica.answer()
	}
	return answers
}

// Stop shuts down every replica, which finishes its sales in flight, and waits until all have exited.
func (c *Cluster) Stop() {
	c.stop()
	c.ended.Wait()
}
