package lab

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"time"

	"lockstep/internal/cluster"
	"lockstep/internal/stage/replica"
)

// Place is where labs are run: a machine, or a browser's tab.
type Place struct {
	Replicas func() Replicas // for one run
	Redis    string          // where an embedded one listens
	Lacks    []Need          // what it does not have
}

// Replicas are where the replicas of one run come from.
type Replicas interface {
	// Start starts so many replicas named r1, r2, …, each by what command gives for its name: a command of the program, and its settings as
	// flags, without an address of its own. When it returns their addresses, all are up.
	Start(ctx context.Context, n int, command func(name string) []string) (addresses map[string]string, err error)
	Kill(name string) error // at once, whatever it does
	Stop(name string) error // its timers, too
	Resume(name string) error
	End() error // ends them all
}

// Need is what a lab needs and not every place has.
type Need string

// The needs.
const (
	Signals   Need = "signals"
	RealRedis Need = "real-redis"
)

// FitsInto fails if a place does not have what the lab needs.
func (l Lab) FitsInto(p Place) error {
	for _, need := range l.Needs {
		if slices.Contains(p.Lacks, need) {
			return map[Need]error{Signals: ErrNoSignals, RealRedis: ErrNoRedis}[need]
		}
	}
	return nil
}

// Machine is this one: a replica is a process of the program.
func Machine(program string) Place {
	p := Place{Replicas: func() Replicas { return &processes{program: program} }, Redis: replica.AnyPort}
	if !replica.CanStop {
		p.Lacks = []Need{Signals}
	}
	return p
}

// grace is how long a replica may take to end: what it leaves unfinished is on a Redis that ends, too.
const grace = 300 * time.Millisecond

type processes struct {
	program string
	dir     string // that they run in
	shops   *cluster.Cluster
	pids    map[string]int // as they were at first: a process that is started in the place of one is none of the lab's
	said    replica.Said   // by the replicas
}

func (p *processes) Start(ctx context.Context, n int, command func(name string) []string) (_ map[string]string, err error) {
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

func (p *processes) Kill(name string) error   { return replica.Kill(p.pids[name]) }
func (p *processes) Stop(name string) error   { return replica.Stop(p.pids[name]) }
func (p *processes) Resume(name string) error { return replica.Resume(p.pids[name]) }

func (p *processes) End() error {
	if p.shops != nil {
		p.shops.Stop()
	}
	return os.RemoveAll(p.dir)
}
