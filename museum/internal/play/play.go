// Package play runs one schedule of a few processes that use a lock library: the library's own code, its clients and goroutines, in a
// bubble of testing/synctest. When all of them wait, and only then, something happens: a step of the schedule.
package play

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/internal/trace"
	"lockstep/museum/internal/library"
	"lockstep/museum/internal/server"
)

// horizon is how long nothing has to happen before it counts as never: longer than any pause of any library here.
const horizon = 10 * time.Minute

// ErrStale means that a schedule has a step that cannot happen.
var ErrStale = errors.New("the schedule does not fit")

// Stage is where one run after the other is played.
type Stage struct {
	t      *testing.T
	shared *server.Shared
}

// NewStage makes a stage for as long as the test runs. Meanwhile there is one processor: its goroutines take turns in a way that
// repeats.
func NewStage(t *testing.T) (*Stage, error) {
	shared, err := server.NewShared()
	if err != nil {
		return nil, err
	}
	t.Cleanup(shared.Close)
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	return &Stage{t, shared}, nil
}

// Scripts is how many scripts were met so far.
func (s *Stage) Scripts() int { return s.shared.Scripts() }

// Play runs the steps of a schedule, and then whatever is to be done with the run: that may let more happen. It fails with ErrStale.
// Leaked says that goroutines were left when all was over.
func (s *Stage) Play(l library.Library, in Scenario, schedule []string, then func(*Run) error) (leaked bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			if e, is := p.(error); !is || !strings.Contains(e.Error(), "blocked goroutines remain") {
				panic(p)
			}
			leaked = true
		}
	}()
	synctest.Test(s.t, func(*testing.T) {
		var r *Run
		if r, err = s.begin(l, in); err != nil {
			return
		}
		defer r.end()
		for i, token := range schedule {
			if err = r.Do(token); err != nil {
				err = fmt.Errorf("step %d, %s: %w", i+1, token, err)
				return
			}
		}
		err = then(r)
	})
	return false, err
}

// Run is one schedule as it unfolds.
type Run struct {
	library   library.Library
	scenario  Scenario
	server    *server.Server
	processes []*process
	actors    []*actor
	left      Budget
	began     time.Time
	stirred   chan struct{} // an actor has come back from a call
	step      trace.Step    // that happens, as far as it has been described
	still     bool          // nothing happens by itself any more
	foreign   string        // whose lock was changed by whom
}

func (s *Stage) begin(l library.Library, in Scenario) (*Run, error) {
	r := &Run{
		library: l, scenario: in, server: server.New(s.shared, l.Nodes), left: in.Faults, began: time.Now(),
		stirred: make(chan struct{}, 1),
	}
	for _, members := range in.processes() {
		p := &process{}
		for _, i := range members {
			a := &actor{name: string(rune('A' + i)), process: p, stir: r.stir}
			p.name += a.name
			p.actors, r.actors = append(p.actors, a), append(r.actors, a)
		}
		client, err := l.Open(p.name, func(node int) net.Conn { return r.server.Dial(p.name, node) })
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
		p.client = client
		r.processes = append(r.processes, p)
	}
	return r, r.settle()
}

func (r *Run) stir() {
	select {
	case r.stirred <- struct{}{}:
	default:
	}
}

// settle waits until everybody waits, and takes down what has happened meanwhile.
func (r *Run) settle() error {
	synctest.Wait()
	if err := r.server.Advance(); err != nil {
		return err
	}
	for _, p := range r.processes {
		for _, text := range r.server.Arrivals(p.name) {
			p.sent++
			p.happened(r.now(), "sent "+text)
			r.says(p.name + " sends " + text)
		}
	}
	return nil
}

func (r *Run) now() time.Duration { return time.Since(r.began) }

// pass lets time pass until somebody does something, or a key expires. It reports false if neither ever happens.
func (r *Run) pass() (bool, error) {
	drain(r.stirred)
	drain(r.server.Stirred())
	wait, expires := horizon, false
	if next := r.server.NextExpiry(); next > 0 {
		wait, expires = next, true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	moved := true
	select {
	case <-r.stirred:
	case <-r.server.Stirred():
	case <-timer.C:
		moved = expires
	}
	return moved, r.settle()
}

func drain(ch <-chan struct{}) {
	select {
	case <-ch:
	default:
	}
}

// end lets everybody come back: calls are cancelled, connections end, locks are given back to nobody, time passes.
func (r *Run) end() {
	r.server.Close()
	for _, a := range r.actors {
		if a.cancel != nil {
			a.cancel()
		}
	}
	synctest.Wait()
	for _, a := range r.actors {
		if a.is(inside) || a.process.crashed && a.held != nil {
			go func() { _ = a.held.Unlock(context.Background()) }() // it fails: there is no server any more
		}
	}
	synctest.Wait()
	for _, p := range r.processes {
		p.client.Close()
	}
	time.Sleep(horizon)
}
