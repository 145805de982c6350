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

// ErrUnseenWait is returned when a goroutine is blocked in a way that a bubble does not recognise: by a mutex whose holder waits for Redis.
var ErrUnseenWait = errors.New("a bubble cannot see this wait")

// ErrEndlessLoop is returned when a goroutine of the code under test computes for endlessLoopAfter without sending a command or waiting.
var ErrEndlessLoop = errors.New("the code seems to be in an endless loop")

// The real times without a step after which the stacks of a run's goroutines are searched for a wait for a mutex, and for an endless loop.
// They are long enough for a machine under load.
const (
	unseenWaitAfter  = 2 * time.Second
	endlessLoopAfter = 5 * time.Second
)

var (
	bubbleHeader    = regexp.MustCompile(`^goroutine \d+ \[([^,\]]+).*, synctest bubble (\d+)`) // state, bubble
	mutexWait       = regexp.MustCompile(`^sync\.(?:RW)?Mutex\.R?Lock`)                         // state of a wait for a mutex
	runningState    = regexp.MustCompile(`^(?:running|runnable)`)                               // state of a goroutine that computes
	stackFrame      = regexp.MustCompile(`(?m)^(.+)\([^()]*\)\n\t(\S+:\d+)`)                    // function, line
	creator         = regexp.MustCompile(`(?m)^created by (.+) in goroutine \d+\n\t(\S+:\d+)`)  // function, line
	standardPackage = regexp.MustCompile(`^(?:sync|runtime|internal)[./]`)                      // functions of Go itself
)

// goroutine is a goroutine of a bubble, as a stack trace shows it.
type goroutine struct {
	state string // state in the header: "select (durable)"
	stack string // whole text, with the header
}

// goroutines returns the goroutines of the newest bubble. Abandoned bubbles may have left more goroutines behind.
func goroutines() (all []goroutine) {
	text := make([]byte, 1<<20)
	text = text[:runtime.Stack(text, true)]
	newest := 0
	for trace := range strings.SplitSeq(string(text), "\n\n") {
		header := bubbleHeader.FindStringSubmatch(trace)
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
		all = append(all, goroutine{header[1], trace})
	}
	return all
}

// caller returns the line and the function of the innermost stack frame outside Go's runtime and synchronisation packages.
func (g goroutine) caller() (line, function string) {
	for _, call := range stackFrame.FindAllStringSubmatch(g.stack, -1) {
		line, function = call[2], call[1]
		if !standardPackage.MatchString(function) {
			break
		}
	}
	return line, function
}

// findMutexWait returns an ErrUnseenWait if a goroutine waits for a mutex, or nil.
func findMutexWait() error {
	for _, g := range goroutines() {
		if mutexWait.MatchString(g.state) {
			line, function := g.caller()
			return fmt.Errorf("%w: %s waits for a mutex, in %s; another goroutine holds it while it waits for Redis", ErrUnseenWait, line, function)
		}
	}
	return nil
}

// findEndlessLoop returns an ErrEndlessLoop if a goroutine of the code under test is running, or nil.
func findEndlessLoop() error {
	for _, g := range goroutines() {
		if runningState.MatchString(g.state) && !strings.Contains(g.stack, "testing.tRunner(") { // The test's own goroutine runs this check.
			line, function := g.caller()
			return fmt.Errorf("%w: for %v of real time it has sent nothing and waited for nothing, at %s, in %s",
				ErrEndlessLoop, endlessLoopAfter, line, function)
		}
	}
	return nil
}

// describeLeak describes a goroutine that the newest bubble has left behind.
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
