package redisproxy

import (
	"fmt"
	"net"
)

// End makes Redis unreachable as if it had ended, until Begin: it closes every connection, and each new one is refused.
func (p *Proxy) End() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return nil
	}
	p.ended = true
	for r := range p.routes {
		r.close()
	}
	return p.listener.Close()
}

// Begin ends what End began. It fails if somebody else has taken the port meanwhile.
func (p *Proxy) Begin() error {
	listener, err := net.Listen("tcp", p.addr)
	if err != nil {
		return fmt.Errorf("a proxy that begins again: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || !p.ended {
		return listener.Close()
	}
	p.ended, p.listener = false, listener
	p.running.Go(func() { p.accept(listener) })
	return nil
}
