package lab

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"lockstep/internal/cluster"
	"lockstep/internal/stage/replica"
)

// grace is how long a replica may take to end: what it leaves unfinished is on a Redis that ends, too.
const grace = 300 * time.Millisecond

// Machine is this one: a replica is a process of the program.
func Machine(program string) Place {
	p := Place{Replicas: func() Replicas { return &processes{program: program} }, Redis: replica.AnyPort}
	if !replica.CanStop {
		p.Lacks = []Need{Signals}
	}
	return p
}

// processes are replicas, each a process.
type processes struct {
	program string
	dir     string // that they run in
	shops   *cluster.Cluster
	pids    map[string]int // as they were at first
	said    replica.Said   // by the replicas
}

func (p *processes) Start(ctx context.Context, n int, command func(name string) []string) (map[string]string, error) {
	var err error
	if p.dir, err = os.MkdirTemp("", "lockstep-lab-"); err != nil {
		return nil, err
	}
	p.shops, err = cluster.Start(ctx, n, func(name string) *exec.Cmd {
		arguments := command(name)
		if arguments[0] == serve {
			arguments = append(arguments, "--server.addr="+replica.AnyPort)
		}
		return replica.Command(p.program, arguments[0], name, p.dir, &p.said, arguments[1:]...)
	}, grace, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, &p.said)
	}
	addresses := map[string]string{}
	p.pids = map[string]int{}
	for _, up := range p.shops.Replicas() {
		addresses[up.Name], p.pids[up.Name] = up.Address, up.PID
	}
	return addresses, nil
}

// Kill kills a replica: kill -9. The process that is started in its place is none of the lab's.
func (p *processes) Kill(name string) error { return replica.Kill(p.pids[name]) }

// Stop stops a replica: SIGSTOP. It goes on by Resume, or is killed at the end.
func (p *processes) Stop(name string) error { return replica.Stop(p.pids[name]) }

// Resume lets a replica go on that was stopped: SIGCONT.
func (p *processes) Resume(name string) error { return replica.Resume(p.pids[name]) }

func (p *processes) End() error {
	if p.shops != nil {
		p.shops.Stop()
	}
	return os.RemoveAll(p.dir)
}
