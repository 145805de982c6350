package locktest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"lockstep/internal/trace"
	"lockstep/locktest/internal/server"
)

// horizon is how long nothing has to happen before it counts as never: longer than any pause of a lock.
const horizon = 10 * time.Minute

// errStale means that a schedule has a step that cannot happen.
var errStale = errors.New("the schedule does not fit")

// stage is where one run after the other is played.
type stage struct {
	t      *testing.T
	game   game
	shared *server.Shared

	obtained bool // some call of Lock, in some run
	locked   bool // the key was there
}

// newStage makes a stage for as long as the test runs. Meanwhile there is one processor: its goroutines take turns in a way that
// repeats.
func newStage(t *testing.T, c Config, open func(Process) (Lock, error)) (*stage, error) {
	g, err := read(c, open)
	if err != nil {
		return nil, err
	}
	shared, err := server.NewShared(c.Key)
	if err != nil {
		return nil, err
	}
	t.Cleanup(shared.Close)
	_, _ = net.LookupHost("localhost") // the resolver makes its channels once: made in a run's bubble, the next run could not use them
	before := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	often := debug.SetGCPercent(800) // each run leaves its clients' buffers behind
	t.Cleanup(func() { debug.SetGCPercent(often) })
	return &stage{t: t, game: g, shared: shared}, nil
}

// play begins a run, and does with it what is to be done. It fails with errStale. Leaked says that goroutines were left when all was over.
func (s *stage) play(then func(*run) error) (leaked bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			if e, is := p.(error); !is || !strings.Contains(e.Error(), "blocked goroutines remain") {
				panic(p)
			}
			leaked = true
		}
	}()
	synctest.Test(s.t, func(t *testing.T) {
		growStack()
		if testing.Testing() {
			cryptotest.SetGlobalRandom(t, 0) // each run alike
		}
		var r *run
		r, err = s.begin()
		defer r.end()
		if err == nil {
			err = then(r)
		}
	})
	return false, err
}

// run is one schedule as it unfolds.
type run struct {
	stage     *stage
	game      *game
	server    *server.Server
	processes []*process
	actors    []*actor
	left      budget
	began     time.Time
	step      trace.Step       // that happens, as far as it has been described
	drawn     bool             // its words are wanted
	still     bool             // nothing happens by itself any more
	token     int64            // the largest that a holder got
	found     []Counterexample // what its steps have done
	buffer    []byte           // for its fingerprint
}

func (s *stage) begin() (*run, error) {
	r := &run{
		stage: s, game: &s.game, server: server.New(s.shared, s.game.Nodes), left: s.game.budget, began: time.Now(),
	}
	for i := range s.game.Actors {
		if !s.game.Together || i < 2 {
			r.processes = append(r.processes, &process{})
		}
		p := r.processes[len(r.processes)-1]
		a := &actor{name: string(rune('A' + i)), process: p, run: r}
		p.name += a.name
		p.actors, r.actors = append(p.actors, a), append(r.actors, a)
	}
	for i, p := range r.processes {
		p.index = i
		if err := r.open(p); err != nil {
			return r, err
		}
	}
	return r, r.settle()
}

func (r *run) open(p *process) (err error) {
	if p.lock, err = r.game.open(Process{p.name, r, &p.ends}); err == nil && p.lock == nil {
		err = errors.New("it is nil")
	}
	if err != nil {
		return fmt.Errorf("the lock of %s cannot be opened: %w", p.name, err)
	}
	return nil
}

// settle waits until everybody waits, and takes down what has happened meanwhile.
func (r *run) settle() error {
	synctest.Wait()
	if err := r.server.Advance(); err != nil {
		return err
	}
	for _, p := range r.processes {
		for _, text := range r.server.Arrivals(p.name) {
			p.sent++
			r.record(p, "sent "+text)
			if r.drawn {
				r.addWords(p.name + " sends " + server.Display(text))
			}
		}
	}
	return r.failed()
}

// failed gives the error of an actor whose lock does not keep to the contract.
func (r *run) failed() error {
	for _, a := range r.actors {
		if s, err := a.look(); s == done && errors.Is(err, errContract) {
			return err
		}
	}
	return nil
}

func (r *run) now() time.Duration { return time.Since(r.began) }

// pass lets time pass until somebody does something, or a key expires. It reports false if neither ever happens.
func (r *run) pass() (bool, error) {
	select {
	case <-r.server.Woken(): // before
	default:
	}
	wait, expires := horizon, false
	if next := r.server.NextExpiry(); next > 0 {
		wait, expires = next, true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	moved := true
	select {
	case <-r.server.Woken():
	case <-timer.C:
		moved = expires
	}
	return moved, r.settle()
}

// end lets everybody come back: calls are cancelled, connections end, locks are given back to nobody, time passes.
func (r *run) end() {
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
		for _, end := range slices.Backward(p.ends) {
			end()
		}
	}
	time.Sleep(horizon)
	synctest.Wait() // for what somebody did by then
}
