package lock

import "context"

// Closer is a Locker that keeps something between leases. Close gives it back; it is called when no lease of the locker is held and none
// will be asked for. It fails as Lease.Unlock does.
type Closer interface {
	Close(ctx context.Context) error
}
