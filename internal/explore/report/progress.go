package report

import (
	"fmt"
	"io"
	"time"
)

// An exploration prints its progress after initialDelay, so that a short exploration prints none. Where a printed line cannot be replaced,
// it prints a new line every lineInterval.
const (
	initialDelay = 2 * time.Second
	lineInterval = 10 * time.Second
)

// progress prints the progress of an exploration: on a single changing line in a terminal, otherwise on a new line from time to time.
type progress struct {
	out        io.Writer        // destination of the lines
	isTerminal bool             // out is a terminal, where a line can be replaced
	now        func() time.Time // clock
	nextUpdate time.Time        // earliest time of the next line
}

// newProgress returns a progress that prints nothing during the initial delay.
func newProgress(out io.Writer, isTerminal bool, now func() time.Time) *progress {
	return &progress{out: out, isTerminal: isTerminal, now: now, nextUpdate: now().Add(initialDelay)}
}

// update prints line if a line is due.
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

// end clears the line in a terminal.
func (p *progress) end() {
	if p.isTerminal {
		fmt.Fprint(p.out, "\r\033[K")
	}
}
