package library

import (
	"fmt"
	"sync/atomic"
	"time"
)

// leaseOfPorts is the expiry of locks that are ports.
const leaseOfPorts = time.Second

// owners gives each call of a process an owner of its own. The values of all owners get names of the museum's.
type owners struct{ calls atomic.Int64 }

func (o *owners) next() string { return fmt.Sprintf("%p-%d", o, o.calls.Add(1)) }
