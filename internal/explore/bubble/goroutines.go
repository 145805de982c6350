package bubble

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// ErrBlind means that a goroutine of the code waits for something that a bubble cannot see: a mutex that another one holds while it waits
// for Redis.
var ErrBlind = errors.New("a bubble cannot see this wait")

// ErrEndless means that a goroutine of the code computes on and on, and neither sends anything nor waits.
var ErrEndless = errors.New("the code computes without an end")

// How long a run takes no step until its goroutines are asked what they wait for, and whether one of them computes. Both are real time.
const (
	blindTime   = 2 * time.Second
	endlessTime = 5 * time.Second
)

var (
	inBubble      = regexp.MustCompile(`^goroutine \d+ \[([^,\]]+).*, synctest bubble (\d+)`)
	waitsForMutex = regexp.MustCompile(`^sync\.(?:RW)?Mutex\.R?Lock`)
	computes      = regexp.MustCompile(`^(?:running|runnable)`)
	calledAt      = regexp.MustCompile(`(?m)^(.+)\([^()]*\)\n\t(\S+:\d+)`)
	createdBy     = regexp.MustCompile(`(?m)^created by (.+) in goroutine \d+\n\t(\S+:\d+)`)
	ofGo          = regexp.MustCompile(`^(?:sync|runtime|internal)[./]`) // functions of Go's own
)

// goroutine is one of a bubble, as the runtime prints it.
type goroutine struct {
	state string
	stack string
}

// goroutines returns those of the newest bubble: of others, which have been given up, some may be left.
func goroutines() (all []goroutine) {
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	newest := 0
	for one := range strings.SplitSeq(string(text), "\n\n") {
		header := inBubble.FindStringSubmatch(one)
		if header == nil {
			continue
		}
		bubble, err := strconv.Atoi(header[2])
		if err != nil || bubble < newest {
			continue
		}
		if bubble > newest {
			newest, all = bubble, nil
		}
		all = append(all, goroutine{header[1], one})
	}
	return all
}

// caller returns the line, and the function, in which the goroutine is outside of Go's own packages.
func (g goroutine) caller() (line, function string) {
	for _, call := range calledAt.FindAllStringSubmatch(g.stack, -1) {
		line, function = call[2], call[1]
		if !ofGo.MatchString(function) {
			break
		}
	}
	return line, function
}

// blindWait finds a goroutine that waits for a mutex, and says where; nil if there is none.
func blindWait() error {
	for _, g := range goroutines() {
		if waitsForMutex.MatchString(g.state) {
			line, function := g.caller()
			return fmt.Errorf("%w: %s waits for a mutex, in %s; another goroutine holds it while it waits for Redis", ErrBlind, line, function)
		}
	}
	return nil
}

// endlessLoop finds a goroutine of the code under test that computes, and says where; nil if there is none.
func endlessLoop() error {
	for _, g := range goroutines() {
		if computes.MatchString(g.state) && !strings.Contains(g.stack, "testing.tRunner(") { // that one is of the run itself
			line, function := g.caller()
			return fmt.Errorf("%w: for %v of real time it has sent nothing and waited for nothing, at %s, in %s",
				ErrEndless, endlessTime, line, function)
		}
	}
	return nil
}

// findLeak says which goroutine the newest bubble has left.
func findLeak() string {
	const says = "a goroutine is left when all clients are closed"
	for _, g := range goroutines() {
		if created := createdBy.FindStringSubmatch(g.stack); created != nil {
			return fmt.Sprintf("%s: %s started it (%s), and it is in %s",
				says, path.Base(created[1]), path.Base(created[2]), strings.TrimSuffix(g.state, " (durable)"))
		}
	}
	return says
}
