package cli

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

// exploreProgress says how far an exploration is: in a terminal on one line that changes, otherwise on a line every now and then.
type exploreProgress struct {
	to   io.Writer
	live bool
	now  func() time.Time
	next time.Time // when there is something to say again
}

func newExploreProgress(to io.Writer, now func() time.Time) *exploreProgress {
	return &exploreProgress{to: to, live: isTerminal(to), now: now, next: now().Add(quiet)}
}

// say says it, if it is time to.
func (p *exploreProgress) say(line string) {
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
func (p *exploreProgress) end() {
	if p.live {
		fmt.Fprint(p.to, "\r\033[K")
	}
}
