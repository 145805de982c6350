package dao

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// Why Redis refuses a connection. Nothing was sent then.
var (
	errTooManyClients = fmt.Errorf("%w: it takes no more connections (redis.pool_size bounds those of a process, "+
		"maxclients those of the server)", lock.ErrUnavailable)
	errProtected = fmt.Errorf("%w: it is in protected mode", lock.ErrUnavailable)
)

// refusedConnection is the error of a connection that Redis refuses. It is no redis.Error: go-redis would take that for an older server's,
// which does not know HELLO, and send its command.
type refusedConnection struct {
	reason error
	reply  string // in the words of Redis
}

func (r *refusedConnection) Error() string { return fmt.Sprintf("%v: %s", r.reason, r.reply) }
func (r *refusedConnection) Unwrap() error { return r.reason }

// open sends the commands by which go-redis opens a connection. It fails with a refusedConnection if Redis refuses that.
func openConnection(ctx context.Context, _ []redis.Cmder, send func(context.Context) error) error {
	err := send(ctx)
	switch {
	case redis.IsMaxClientsError(err):
		err = &refusedConnection{errTooManyClients, err.Error()}
	case redis.HasErrorPrefix(err, "DENIED"):
		err = &refusedConnection{errProtected, err.Error()}
	default:
		return err
	}
	return fmt.Errorf("%w", err) // go-redis unwraps it once
}
