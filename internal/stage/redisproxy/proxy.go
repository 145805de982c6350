// Package redisproxy is a way from a client to a Redis on which one named command can be held, lost, or answered in vain. It understands
// as much of Redis's protocol as that takes. A command that nobody has set a trap for passes unchanged, and so does its reply.
package redisproxy

import (
	"fmt"
	"net"
	"sync"
)

// Proxy listens at a port of loopback, and passes everything on to one Redis.
type Proxy struct {
	addr    string
	running sync.WaitGroup

	mu       sync.Mutex
	target   string
	listener net.Listener
	traps    []*Trap
	routes   map[*route]struct{} // open
	gone     bool                // Redis cannot be reached
	ended    bool                // nor can the proxy: listener is closed
	hung     chan struct{}       // closed when commands go on to Redis; nil while they do
	closed   bool
}

// Open makes a proxy to the Redis at that address. The caller must Close it.
func Open(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("a proxy to the Redis at %s: %w", target, err)
	}
	p := &Proxy{target: target, addr: listener.Addr().String(), listener: listener, routes: map[*route]struct{}{}}
	p.running.Go(func() { p.accept(listener) })
	return p, nil
}

// Addr gives the address at which clients reach Redis by this proxy.
func (p *Proxy) Addr() string { return p.addr }

// Catch sets a trap for the next command, or the next message to a subscriber, that matches: it does with it what fate says.
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

// Close closes every connection. What is still held never arrives.
func (p *Proxy) Close() error {
	err := p.End()
	p.mu.Lock()
	p.closed = true
	over := p.hung
	for _, trap := range p.traps {
		trap.Drop()
	}
	for r := range p.routes {
		r.close()
	}
	p.mu.Unlock()
	if over != nil {
		p.goOn(over)
	}
	p.running.Wait()
	return err
}

func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return // it is closed
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve passes on what comes and goes on one connection.
func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.pointsAt())
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
	if p.gone || p.ended || p.closed {
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

// trapFor gives the trap that a command falls into, or a message, nil if there is none. A trap catches one.
func (p *Proxy) trapFor(args []string, isMessage bool) *Trap {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, trap := range p.traps {
		if !trap.sprung && isMessage == (trap.fate == LoseMessage) && trap.matches(args) {
			trap.sprung = true
			return trap
		}
	}
	return nil
}
