package dao

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
)

// Reasons for which Redis refuses a connection. No command was sent on it.
var (
	errTooManyClients = fmt.Errorf("%w: it accepts no more connections (redis.pool_size limits those of a process, "+
		"maxclients those of the server)", lock.ErrUnavailable)
	errProtected = fmt.Errorf("%w: it is in protected mode", lock.ErrUnavailable)
)

// refusedConnection is the error of a connection that Redis refuses. It does not implement redis.Error: go-redis would take that for the
// answer of an old server without HELLO, and send the command.
type refusedConnection struct {
	reason error
	reply  string // error text sent by Redis
}

func (r *refusedConnection) Error() string { return fmt.Sprintf("%v: %s", r.reason, r.reply) }
func (r *refusedConnection) Unwrap() error { return r.reason }

// openConnection sends the handshake of a new connection. It fails with a refusedConnection if Redis refuses the connection.
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
	return fmt.Errorf("%w", err) // Wrapped, because go-redis unwraps an error of a handshake once.
}
