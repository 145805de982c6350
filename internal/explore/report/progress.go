package report

import (
	"fmt"
	"io"
	"time"
)

// How long an exploration lasts before it says how far it is, and how often it says so where its lines stay.
const (
	initialDelay = 2 * time.Second
	lineInterval = 10 * time.Second
)

// progress says how far an exploration is: in a terminal on one line that changes, otherwise on a line every now and then.
type progress struct {
	out        io.Writer
	isTerminal bool
	now        func() time.Time
	nextUpdate time.Time // when there is something to say again
}

func newProgress(out io.Writer, isTerminal bool, now func() time.Time) *progress {
	return &progress{out: out, isTerminal: isTerminal, now: now, nextUpdate: now().Add(initialDelay)}
}

// say says it, if it is time to.
func (p *progress) update(line string) {
	now := p.now()
	switch {
	case now.Before(p.nextUpdate):
	case p.isTerminal:
		fmt.Fprint(p.out, "\r\033[K"+line)
	default:
		fmt.Fprintln(p.out, line)
		p.nextUpdate = now.Add(lineInterval)
	}
}

// end leaves an empty line behind in a terminal.
func (p *progress) end() {
	if p.isTerminal {
		fmt.Fprint(p.out, "\r\033[K")
	}
}
