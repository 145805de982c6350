package lab

import (
	"context"
	"slices"
	"time"

	"lockstep/internal/cluster"
	"lockstep/internal/fault"
)

// Environment is where labs are run: a machine, or a browser's tab.
type Environment struct {
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

// TabEnvironment returns the environment of a browser tab. Each replica is a worker of the page.
func TabEnvironment(replicas func() Replicas, redis string) Environment {
	return Environment{Replicas: replicas, Redis: redis, Lacks: []Need{Signals, RealRedis}}
}

// FitsInto fails if a place does not have what the lab needs.
func (l Lab) FitsInto(p Environment) error {
	for _, need := range l.Needs {
		if slices.Contains(p.Lacks, need) {
			return map[Need]error{Signals: ErrNoSignals, RealRedis: ErrNoRedis}[need]
		}
	}
	return nil
}

// Machine is this one: a replica is a process of the program.
func Machine(program string) Environment {
	p := Environment{Replicas: func() Replicas { return &processes{program: program} }, Redis: fault.AnyPort}
	if !cluster.CanPause {
		p.Lacks = []Need{Signals}
	}
	return p
}

// grace is how long a replica may take to end: what it leaves unfinished is on a Redis that ends, too.
const grace = 300 * time.Millisecond

type processes struct {
	program string
	shops   *cluster.Isolated
}

func (p *processes) Start(ctx context.Context, n int, command func(name string) []string) (_ map[string]string, err error) {
	p.shops, err = cluster.StartIsolated(ctx, p.program, n, func(name string) []string {
		words := command(name)
		if words[0] == serve {
			words = append(words, "--server.addr="+fault.AnyPort)
		}
		return words
	}, grace)
	if err != nil {
		return nil, err
	}
	addresses := map[string]string{}
	for _, up := range p.shops.Replicas() {
		addresses[up.Name] = up.Address
	}
	return addresses, nil
}

func (p *processes) Kill(name string) error   { return p.shops.Do(name, "kill") }
func (p *processes) Stop(name string) error   { return p.shops.Do(name, "pause") }
func (p *processes) Resume(name string) error { return p.shops.Do(name, "resume") }

func (p *processes) End() error {
	if p.shops == nil {
		return nil // none was started
	}
	return p.shops.Close()
}
