package library

import (
	"fmt"
	"sync/atomic"
	"time"
)

// leaseOfPorts is the expiry of locks that are ports.
const leaseOfPorts = time.Second

// owners gives each call of a process an owner of its own.
type owners struct{ calls atomic.Int64 }

func (o *owners) next(process string) string { return fmt.Sprintf("%s-%d", process, o.calls.Add(1)) }
