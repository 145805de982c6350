package lab

import (
	"context"
	"slices"
	"time"

	"lockstep/internal/cluster"
	"lockstep/internal/fault"
)

// Environment is where labs run: this machine or a browser tab.
type Environment struct {
	NewReplicas  func() Replicas // factory of the replicas of one run; nil: labs cannot run here
	EmbeddedAddr string          // listen address of the embedded Redis
	Lacks        []Need          // needs that the environment does not meet
}

// Replicas starts, signals and ends the replicas of one run.
type Replicas interface {
	// Start starts n replicas named r1, r2, … and returns their addresses when all are up. For each name, command returns a command of the
	// program with its settings as flags; the listen address is not among them.
	Start(ctx context.Context, n int, command func(name string) []string) (addresses map[string]string, err error)
	Kill(name string) error   // ends the replica at once, in the middle of its work
	Pause(name string) error  // suspends the replica with its timers
	Resume(name string) error // resumes a suspended replica
	End() error               // ends all replicas
}

// Need is something that a lab needs and that not every environment offers.
type Need string

// The needs of the labs.
const (
	Signals   Need = "signals"    // replicas can be suspended and resumed
	RealRedis Need = "real-redis" // a redis-server or a valkey-server is installed
)

// TabEnvironment returns the environment of a browser tab. Each replica is a Web Worker of the page.
func TabEnvironment(newReplicas func() Replicas, embeddedAddr string) Environment {
	return Environment{NewReplicas: newReplicas, EmbeddedAddr: embeddedAddr, Lacks: []Need{Signals, RealRedis}}
}

// CheckNeeds returns ErrNoSignals or ErrNoRedis if the environment does not meet a need of the lab.
func (l Lab) CheckNeeds(env Environment) error {
	for _, need := range l.Needs {
		if slices.Contains(env.Lacks, need) {
			return map[Need]error{Signals: ErrNoSignals, RealRedis: ErrNoRedis}[need]
		}
	}
	return nil
}

// MachineEnvironment returns the environment of this machine. Each replica is a process of the program, the path of a lockstep.
func MachineEnvironment(program string) Environment {
	env := Environment{NewReplicas: func() Replicas { return &processes{program: program} }, EmbeddedAddr: fault.AnyPort}
	if !cluster.CanPause {
		env.Lacks = []Need{Signals}
	}
	return env
}

// shutdownGrace is the time that a replica gets to shut down. It is short: unfinished work is of no use, because the run's Redis ends, too.
const shutdownGrace = 300 * time.Millisecond

// processes implements Replicas with a child process for each replica.
type processes struct {
	program string            // path of the lockstep program
	cluster *cluster.Isolated // cluster of the child processes; nil: not started
}

// Start implements Replicas.
func (p *processes) Start(ctx context.Context, n int, command func(name string) []string) (_ map[string]string, err error) {
	p.cluster, err = cluster.StartIsolated(ctx, p.program, n, func(name string) []string {
		words := command(name)
		if words[0] == serve {
			words = append(words, "--server.addr="+fault.AnyPort)
		}
		return words
	}, shutdownGrace)
	if err != nil {
		return nil, err
	}
	addresses := map[string]string{}
	for _, up := range p.cluster.Replicas() {
		addresses[up.Name] = up.Address
	}
	return addresses, nil
}

// Kill implements Replicas.
func (p *processes) Kill(name string) error { return p.cluster.Do(name, "kill") }

// Pause implements Replicas.
func (p *processes) Pause(name string) error { return p.cluster.Do(name, "pause") }

// Resume implements Replicas.
func (p *processes) Resume(name string) error { return p.cluster.Do(name, "resume") }

// End implements Replicas.
func (p *processes) End() error {
	if p.cluster == nil {
		return nil // Start was never called.
	}
	return p.cluster.Close()
}
