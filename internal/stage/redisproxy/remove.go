package redisproxy

import "slices"

// Remove takes a trap away: it catches nothing any more. What it holds must have been released or dropped before.
func (p *Proxy) Remove(trap *Trap) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.traps = slices.DeleteFunc(p.traps, func(t *Trap) bool { return t == trap })
}
