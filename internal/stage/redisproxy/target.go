package redisproxy

// PointAt leads new connections to another Redis, as an address does that moves with the master, and closes those that there are.
func (p *Proxy) PointAt(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
	for r := range p.routes {
		r.close()
	}
}

func (p *Proxy) pointsAt() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target
}
