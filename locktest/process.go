package locktest

import (
	"errors"
	"slices"

	"lockstep/internal/trace"
	"lockstep/locktest/internal/server"
)

// process is a process with a few actors.
type process struct {
	name    string
	index   int
	actors  []*actor
	lock    Lock
	ends    []func() // of its clients
	history history
	buffer  []byte
	sent    int // commands
	crashed bool
	paused  bool
}

var errCrashed = errors.New("its process has crashed")

// ofProcesses are crashes and pauses. A process that has not begun, or is done, has nothing to lose. One that pauses has the lock, and
// waits for nothing: what its code would do with an answer that comes after the pause, the bubble cannot tell, as its timers run on.
func (r *run) ofProcesses() (all []step) {
	can := func(p *process, what, kind string, do func()) {
		all = append(all, step{p.name + ":" + what, kind, p.name, func() error {
			do()
			r.report(p, p.name+": "+what)
			return nil
		}})
	}
	for _, p := range r.processes {
		if r.left[crash] > 0 && slices.ContainsFunc(p.actors, func(a *actor) bool { return !a.is(idle) && !a.is(done) }) {
			can(p, "crash", trace.KindDies, func() { r.crash(p) })
		}
		waits := slices.ContainsFunc(r.server.Held(), func(l *server.Line) bool { return l.Process == p.name })
		if r.left[pause] > 0 && !p.paused && !waits && slices.ContainsFunc(p.actors, (*actor).believes) {
			can(p, "pause", trace.KindPauses, func() { r.pause(p) })
		}
	}
	return all
}

// crash cuts a process off for good. Its code runs on, but nobody hears of it.
func (r *run) crash(p *process) {
	r.left[crash]--
	for _, a := range p.actors {
		a.mu.Lock()
		a.standing, a.err = done, errCrashed
		a.mu.Unlock()
	}
	p.crashed = true
	r.server.Desert(p.name)
}

// pause cuts a process off for as long as the schedule goes on. Its holder believes what it believed.
func (r *run) pause(p *process) {
	r.left[pause]--
	for _, a := range p.actors {
		a.believed = a.believes()
	}
	p.paused = true
	r.server.Mute(p.name)
}

// isAnyPaused reports whether a process is paused: then time may pass before another one begins.
func (r *run) isAnyPaused() bool {
	return slices.ContainsFunc(r.processes, func(p *process) bool { return p.paused })
}
