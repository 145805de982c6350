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

// blindTime is how long a run takes no step until its goroutines are asked what they wait for.
const blindTime = 2 * time.Second

var (
	waitsForMutex = regexp.MustCompile(`^goroutine \d+ \[sync\.(?:RW)?Mutex\.R?Lock[^\]]*synctest bubble`)
	calledAt      = regexp.MustCompile(`(?m)^([^\s(]+)\(.*\)\n\t(\S+:\d+)`)
)

// blindWait finds a goroutine in a bubble that waits for a mutex, and says where; nil if there is none.
func blindWait() error {
	for one := range strings.SplitSeq(stacks(), "\n\n") {
		if !waitsForMutex.MatchString(one) {
			continue
		}
		for _, call := range calledAt.FindAllStringSubmatch(one, -1) {
			if function := call[1]; !strings.HasPrefix(function, "sync.") && !strings.HasPrefix(function, "internal/") {
				return fmt.Errorf("%w: %s waits for a mutex, in %s; another goroutine holds it while it waits for Redis", ErrBlind, call[2], function)
			}
		}
	}
	return nil
}

var (
	inBubble  = regexp.MustCompile(`^goroutine \d+ \[([^,\]]+).*, synctest bubble (\d+)`)
	createdBy = regexp.MustCompile(`(?m)^created by (.+) in goroutine \d+\n\t(\S+:\d+)`)
)

// findLeak says which goroutine the newest bubble has left.
func findLeak() string {
	says, newest := "a goroutine is left when all clients are closed", 0
	for one := range strings.SplitSeq(stacks(), "\n\n") {
		header, created := inBubble.FindStringSubmatch(one), createdBy.FindStringSubmatch(one)
		if header == nil || created == nil {
			continue
		}
		if bubble, err := strconv.Atoi(header[2]); err == nil && bubble > newest {
			newest = bubble
			says = fmt.Sprintf("a goroutine is left when all clients are closed: %s started it (%s), and it is in %s",
				path.Base(created[1]), path.Base(created[2]), strings.TrimSuffix(header[1], " (durable)"))
		}
	}
	return says
}

// stacks returns what all goroutines do.
func stacks() string {
	all := make([]byte, 1<<20)
	return string(all[:runtime.Stack(all, true)])
}
