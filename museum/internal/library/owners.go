package library

import (
	"fmt"
	"sync/atomic"
	"time"

	"lockstep/locktest"
)

// leaseOfPorts is the expiry of locks that are ports.
const leaseOfPorts = time.Second

// owners returns a function that gives each call of a process an owner of its own.
func owners(p locktest.Process) (next func() string) {
	var calls atomic.Int64
	return func() string { return fmt.Sprintf("%s-%d", p.Name, calls.Add(1)) }
}
