// Package redisproxy is a way from a client to a Redis on which one named command can be held, lost, or answered in vain. It understands
// as much of Redis's protocol as that takes. A command that nobody has set a trap for passes unchanged, and so does its reply.
package redisproxy

import (
	"fmt"
	"net"
	"slices"
	"sync"
)

// Proxy listens at a port of loopback, and passes everything on to one Redis.
type Proxy struct {
	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu     sync.Mutex
	traps  []*Trap // that have caught nothing yet
	sprung []*Trap
	routes map[*route]struct{} // open
	gone   bool                // Redis cannot be reached
	stall  chan struct{}       // closed when what stalls flows again; nil: nothing does
	closed bool
}

// Open makes a proxy to the Redis at that address. The caller must Close it.
func Open(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("a proxy to the Redis at %s: %w", target, err)
	}
	p := &Proxy{target: target, listener: listener, routes: map[*route]struct{}{}}
	p.running.Go(p.accept)
	return p, nil
}

// Addr is where clients reach Redis by this proxy.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Catch sets a trap for the next command that matches: it does with it what fate says.
func (p *Proxy) Catch(matches func(args []string) bool, fate Fate) *Trap {
	trap := newTrap(matches, fate)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.traps = append(p.traps, trap)
	return trap
}

// Cut makes Redis unreachable until Mend: it closes every connection, and each new one.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	for r := range p.routes {
		r.close()
	}
}

// Mend ends what Cut began.
func (p *Proxy) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = false
}

// Remove takes a trap away that has caught nothing yet. What it has caught is as it was.
func (p *Proxy) Remove(trap *Trap) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.traps = slices.DeleteFunc(p.traps, func(t *Trap) bool { return t == trap })
}

// Stall lets nothing pass until Flow, no command and no reply: all of it arrives then, as after a while without a network.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stall == nil && !p.closed {
		p.stall = make(chan struct{})
	}
}

// Flow ends what Stall began.
func (p *Proxy) Flow() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stall != nil {
		close(p.stall)
		p.stall = nil
	}
}

// flows waits while everything stalls.
func (p *Proxy) flows() {
	p.mu.Lock()
	stall := p.stall
	p.mu.Unlock()
	if stall != nil {
		<-stall
	}
}

// Close closes every connection. What is still held never arrives.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.Flow()
	p.mu.Lock()
	p.closed = true
	for _, trap := range slices.Concat(p.traps, p.sprung) {
		trap.Drop()
	}
	for r := range p.routes {
		r.close()
	}
	p.mu.Unlock()
	p.running.Wait()
	return err
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // it is closed
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve passes on what comes and goes on one connection.
func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		_ = client.Close() // as if it were Redis itself
		return
	}
	r := &route{proxy: p, client: client, server: server}
	if !p.open(r) {
		r.close()
		return
	}
	defer p.forget(r)
	r.run()
}

func (p *Proxy) open(r *route) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone || p.closed {
		return false
	}
	p.routes[r] = struct{}{}
	return true
}

func (p *Proxy) forget(r *route) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.routes, r)
}

// trapFor gives the trap that a command falls into, nil if there is none. A trap catches one command.
func (p *Proxy) trapFor(args []string) *Trap {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, trap := range p.traps {
		if trap.matches(args) {
			p.traps, p.sprung = slices.Delete(p.traps, i, i+1), append(p.sprung, trap)
			return trap
		}
	}
	return nil
}
