package bubble

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
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
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for one := range strings.SplitSeq(string(stacks), "\n\n") {
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
