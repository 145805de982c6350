// Package fault breaks what a shop runs on: a Redis as a process that can be killed and started again, and a way to it on which one
// named command can be held, lost, or answered in vain. Replicas are killed and stopped by package cluster.
package fault

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// AnyPort is any free port of loopback.
const AnyPort = "127.0.0.1:0"

// Proxy listens at a port of loopback, and passes everything on to one Redis. It understands as much of Redis's protocol as that takes. A
// command that nobody has set a trap for passes unchanged, and so does its reply.
type Proxy struct {
	addr    string
	running sync.WaitGroup
	closed  chan struct{} // closed by Close

	mu        sync.Mutex
	target    string
	listener  net.Listener        // nil: nobody reaches the proxy
	traps     []*Trap             // that have caught nothing yet
	routes    map[*route]struct{} // open
	gone      bool                // Redis cannot be reached
	hungUntil time.Time           // no command goes on to Redis before
}

// OpenProxy makes a proxy to the Redis at that address. The caller must Close it, once.
func OpenProxy(target string) (*Proxy, error) {
	p := &Proxy{addr: AnyPort, target: target, closed: make(chan struct{}), routes: map[*route]struct{}{}}
	if err := p.Begin(); err != nil {
		return nil, err
	}
	p.addr = p.listener.Addr().String()
	return p, nil
}

// Addr gives the address at which clients reach Redis by this proxy.
func (p *Proxy) Addr() string { return p.addr }

// Catch sets a trap for the next command, or the next message to a subscriber, that matches: it does with it what action says.
func (p *Proxy) Catch(matches func(args []string) bool, action Action) *Trap {
	trap := &Trap{
		matches: matches, action: action, closed: p.closed,
		caught: make(chan struct{}), decided: make(chan struct{}), answered: make(chan struct{}),
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.traps = append(p.traps, trap)
	return trap
}

// Remove takes a trap away: it catches nothing any more.
func (p *Proxy) Remove(trap *Trap) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.traps = slices.DeleteFunc(p.traps, func(t *Trap) bool { return t == trap })
}

// Cut makes Redis unreachable until Mend: it closes every connection, and each new one.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	p.disconnect()
}

// Mend ends what Cut began.
func (p *Proxy) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = false
}

// End makes Redis unreachable as if it had ended, until Begin: it closes every connection, and each new one is refused.
func (p *Proxy) End() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.listener != nil {
		err = p.listener.Close()
	}
	p.listener = nil
	p.disconnect()
	return err
}

// Begin ends what End began. It fails if somebody else has taken the port meanwhile.
func (p *Proxy) Begin() error {
	listener, err := net.Listen("tcp", p.addr)
	if err != nil {
		return fmt.Errorf("a proxy to the Redis at %s: %w", p.target, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener = listener
	p.running.Go(func() { p.accept(listener) })
	return nil
}

// PointAt leads new connections to another Redis, as an address does that moves with the master. Those that are open stay.
func (p *Proxy) PointAt(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Hang keeps every command from Redis for some time, as CLIENT PAUSE does: they take effect after it.
func (p *Proxy) Hang(lasts time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hungUntil = time.Now().Add(lasts)
}

// awaitHang waits until no command is kept from Redis, or the proxy is closed.
func (p *Proxy) awaitHang() {
	p.mu.Lock()
	until := p.hungUntil
	p.mu.Unlock()
	if lasts := time.Until(until); lasts > 0 {
		select {
		case <-time.After(lasts):
		case <-p.closed:
		}
	}
}

// disconnect closes every connection. The mutex is held.
func (p *Proxy) disconnect() {
	for r := range p.routes {
		r.close()
	}
}

// Close closes every connection. What is still held never arrives.
func (p *Proxy) Close() error {
	err := p.End()
	close(p.closed)
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
	if r := p.open(client); r != nil {
		defer p.forget(r)
		r.run()
	}
}

// open leads a client to Redis. Where that cannot be reached it closes the client's connection, as if it were Redis itself, and gives nil.
func (p *Proxy) open(client net.Conn) *route {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.gone && p.listener != nil {
		if server, err := net.Dial("tcp", p.target); err == nil {
			r := &route{proxy: p, client: client, server: server}
			p.routes[r] = struct{}{}
			return r
		}
	}
	_ = client.Close()
	return nil
}

func (p *Proxy) forget(r *route) {
	r.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.routes, r)
}

// trapFor gives the trap that a command falls into, or a message, nil if there is none. A trap catches one.
func (p *Proxy) trapFor(args []string, isMessage bool) *Trap {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.traps, func(t *Trap) bool { return isMessage == (t.action == LoseMessage) && t.matches(args) })
	if i < 0 {
		return nil
	}
	trap := p.traps[i]
	p.traps = slices.Delete(p.traps, i, i+1)
	return trap
}
