package play

import (
	"crypto/sha256"
	"fmt"
	"time"
)

// Fingerprint tells states apart.
type Fingerprint [16]byte

// happened adds to the history of a process. Code that does the same twice has, after the same history, the same memory.
func (p *process) happened(at time.Duration, what string) {
	sum := sha256.Sum256(fmt.Appendf(p.history, "%d %s\n", at, what))
	p.history = append(p.history[:0], sum[:16]...)
}

// Fingerprint is a hash of all that the future depends on: what the nodes hold, what has happened to each process and when, and what is
// on its way.
func (r *Run) Fingerprint() Fingerprint {
	b := fmt.Appendf(nil, "%d %v\n", r.now(), r.left)
	for _, p := range r.processes {
		b = append(b, p.history...)
	}
	for _, a := range r.actors {
		now, err := a.look()
		b = fmt.Appendf(b, "%d %t %t\n", now, a.believes(), err != nil)
	}
	sum := sha256.Sum256(r.server.Append(b))
	return Fingerprint(sum[:16])
}
