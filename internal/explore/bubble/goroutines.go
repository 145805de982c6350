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
var ErrUnseenWait = errors.New("a bubble cannot see this wait")

// ErrEndless means that a goroutine of the code computes on and on, and neither sends anything nor waits.
var ErrEndlessLoop = errors.New("the code computes without an end")

// How long a run takes no step until its goroutines are asked what they wait for, and whether one of them computes. Both are real time.
const (
	unseenWaitAfter  = 2 * time.Second
	endlessLoopAfter = 5 * time.Second
)

var (
	bubbleHeader    = regexp.MustCompile(`^goroutine \d+ \[([^,\]]+).*, synctest bubble (\d+)`)
	mutexWait       = regexp.MustCompile(`^sync\.(?:RW)?Mutex\.R?Lock`)
	runningState    = regexp.MustCompile(`^(?:running|runnable)`)
	stackFrame      = regexp.MustCompile(`(?m)^(.+)\([^()]*\)\n\t(\S+:\d+)`)
	creator         = regexp.MustCompile(`(?m)^created by (.+) in goroutine \d+\n\t(\S+:\d+)`)
	standardPackage = regexp.MustCompile(`^(?:sync|runtime|internal)[./]`) // functions of Go's own
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
		header := bubbleHeader.FindStringSubmatch(one)
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
	for _, call := range stackFrame.FindAllStringSubmatch(g.stack, -1) {
		line, function = call[2], call[1]
		if !standardPackage.MatchString(function) {
			break
		}
	}
	return line, function
}

// blindWait finds a goroutine that waits for a mutex, and says where; nil if there is none.
func findMutexWait() error {
	for _, g := range goroutines() {
		if mutexWait.MatchString(g.state) {
			line, function := g.caller()
			return fmt.Errorf("%w: %s waits for a mutex, in %s; another goroutine holds it while it waits for Redis", ErrUnseenWait, line, function)
		}
	}
	return nil
}

// endlessLoop finds a goroutine of the code under test that computes, and says where; nil if there is none.
func findEndlessLoop() error {
	for _, g := range goroutines() {
		if runningState.MatchString(g.state) && !strings.Contains(g.stack, "testing.tRunner(") { // that one is of the run itself
			line, function := g.caller()
			return fmt.Errorf("%w: for %v of real time it has sent nothing and waited for nothing, at %s, in %s",
				ErrEndlessLoop, endlessLoopAfter, line, function)
		}
	}
	return nil
}

// findLeak says which goroutine the newest bubble has left.
func describeLeak() string {
	const says = "a goroutine is left when all clients are closed"
	for _, g := range goroutines() {
		if created := creator.FindStringSubmatch(g.stack); created != nil {
			return fmt.Sprintf("%s: %s started it (%s), and it is in %s",
				says, path.Base(created[1]), path.Base(created[2]), strings.TrimSuffix(g.state, " (durable)"))
		}
	}
	return says
}
