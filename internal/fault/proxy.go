// Package fault injects faults between the shop and Redis. RedisServer runs a Redis as a process that can be killed and started again.
// Proxy stands between a replica and Redis; a Trap on it holds, loses or repeats one command or its reply. Package cluster kills and
// suspends the replicas themselves.
package fault

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// AnyPort is a listen address on loopback with any free port.
const AnyPort = "127.0.0.1:0"

// Proxy listens on a loopback port and forwards everything to one Redis. It parses the protocol only as far as traps need it: a command
// without a trap passes unchanged, and so does its reply. It is safe for concurrent use.
type Proxy struct {
	addr    string         // listen address; AnyPort before the first Begin
	running sync.WaitGroup // goroutines of the listener and of the routes
	closed  chan struct{}  // closed by Close

	mu        sync.Mutex
	target    string              // address of the Redis for new connections
	listener  net.Listener        // nil after End: new connections are refused
	traps     []*Trap             // traps that have caught nothing yet
	routes    map[*route]struct{} // open connections
	isCut     bool                // set by Cut: every connection is closed at once
	hungUntil time.Time           // end of the delay of all commands; zero: never delayed
}

// OpenProxy opens a proxy to the Redis at target. The caller must call Close once.
func OpenProxy(target string) (*Proxy, error) {
	p := &Proxy{addr: AnyPort, target: target, closed: make(chan struct{}), routes: map[*route]struct{}{}}
	if err := p.Begin(); err != nil {
		return nil, err
	}
	p.addr = p.listener.Addr().String()
	return p, nil
}

// Addr returns the address of the proxy.
func (p *Proxy) Addr() string { return p.addr }

// Catch sets a trap, which applies action to the next command, or the next message to a subscriber, for which matches is true.
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

// Remove removes a trap, which then catches nothing any more.
func (p *Proxy) Remove(trap *Trap) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.traps = slices.DeleteFunc(p.traps, func(t *Trap) bool { return t == trap })
}

// Cut makes Redis unreachable until Restore: it closes every connection, and each new one.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = true
	p.disconnect()
}

// Restore makes Redis reachable again after Cut.
func (p *Proxy) Restore() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.isCut = false
}

// End makes Redis unreachable until Begin, as if its process had ended: open connections are closed, new ones refused.
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

// Begin listens again after End. It fails if another process has taken the port meanwhile.
func (p *Proxy) Begin() error {
	listener, err := net.Listen("tcp", p.addr)
	if err != nil {
		return fmt.Errorf("opening a proxy to the Redis at %s: %w", p.target, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.listener = listener
	p.running.Go(func() { p.accept(listener) })
	return nil
}

// PointAt directs new connections to another Redis, as a virtual address does after a failover. Open connections stay.
func (p *Proxy) PointAt(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

// Disconnect closes every open connection.
func (p *Proxy) Disconnect() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.disconnect()
}

// Hang delays all commands for a duration, as CLIENT PAUSE does. They take effect afterwards.
func (p *Proxy) Hang(duration time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hungUntil = time.Now().Add(duration)
}

// awaitHang waits until the delay of Hang is over or the proxy is closed.
func (p *Proxy) awaitHang() {
	p.mu.Lock()
	until := p.hungUntil
	p.mu.Unlock()
	if left := time.Until(until); left > 0 {
		select {
		case <-time.After(left):
		case <-p.closed:
		}
	}
}

// disconnect closes every connection. The caller holds p.mu.
func (p *Proxy) disconnect() {
	for r := range p.routes {
		r.close()
	}
}

// Close closes every connection. A command that a trap still holds never arrives.
func (p *Proxy) Close() error {
	err := p.End()
	close(p.closed)
	p.running.Wait()
	return err
}

// accept serves the clients of a listener until it is closed.
func (p *Proxy) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return // The listener is closed.
		}
		p.running.Go(func() { p.serve(client) })
	}
}

// serve forwards the commands and replies of one client connection.
func (p *Proxy) serve(client net.Conn) {
	if r := p.open(client); r != nil {
		defer p.forget(r)
		r.run()
	}
}

// open connects a client to Redis. If Redis cannot be reached, it closes the client's connection and returns nil.
func (p *Proxy) open(client net.Conn) *route {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.isCut && p.listener != nil {
		if server, err := net.Dial("tcp", p.target); err == nil {
			r := &route{proxy: p, client: client, server: server}
			p.routes[r] = struct{}{}
			return r
		}
	}
	_ = client.Close()
	return nil
}

// forget closes a route, and removes it from the open ones.
func (p *Proxy) forget(r *route) {
	r.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.routes, r)
}

// takeTrap removes and returns the first trap that matches a command or a message, or nil. A trap catches only once.
func (p *Proxy) takeTrap(args []string, isMessage bool) *Trap {
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
