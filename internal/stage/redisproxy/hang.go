package redisproxy

import "time"

// Hang keeps every command from Redis for some time, as CLIENT PAUSE does: they take effect after it.
func (p *Proxy) Hang(lasts time.Duration) {
	over := make(chan struct{})
	timer := time.AfterFunc(lasts, func() { p.goOn(over) })
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.hung != nil {
		timer.Stop()
		return
	}
	p.hung = over
}

// goOn ends a hang, unless it is over.
func (p *Proxy) goOn(over chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hung == over {
		close(over)
		p.hung = nil
	}
}

// awaitHang waits until no command is kept from Redis.
func (p *Proxy) awaitHang() {
	p.mu.Lock()
	over := p.hung
	p.mu.Unlock()
	if over != nil {
		<-over
	}
}
