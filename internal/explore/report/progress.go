package report

import (
	"fmt"
	"io"
	"time"
)

// How long an exploration lasts before it says how far it is, and how often it says so where its lines stay.
const (
	quiet     = 2 * time.Second
	lineEvery = 10 * time.Second
)

// progress says how far an exploration is: in a terminal on one line that changes, otherwise on a line every now and then.
type progress struct {
	to   io.Writer
	live bool
	now  func() time.Time
	next time.Time // when there is something to say again
}

func newProgress(to io.Writer, live bool, now func() time.Time) *progress {
	return &progress{to: to, live: live, now: now, next: now().Add(quiet)}
}

// say says it, if it is time to.
func (p *progress) say(line string) {
	now := p.now()
	switch {
	case now.Before(p.next):
	case p.live:
		fmt.Fprint(p.to, "\r\033[K"+line)
	default:
		fmt.Fprintln(p.to, line)
		p.next = now.Add(lineEvery)
	}
}

// end leaves an empty line behind in a terminal.
func (p *progress) end() {
	if p.live {
		fmt.Fprint(p.to, "\r\033[K")
	}
}
