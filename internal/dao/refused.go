package dao

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
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

// nameRefusals makes every connection of a client that Redis refuses fail with a refusedConnection.
func nameRefusals(client redis.UniversalClient) {
	hook := redisclient.Around(func(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error {
		err := send(ctx)
		switch {
		case !isHello(commands):
			return err
		case redis.IsMaxClientsError(err):
			err = &refusedConnection{errTooManyClients, err.Error()}
		case redis.HasErrorPrefix(err, "DENIED"):
			err = &refusedConnection{errProtected, err.Error()}
		default:
			return err
		}
		return fmt.Errorf("%w", err) // go-redis unwraps it once
	})
	if cluster, is := client.(*redis.ClusterClient); is { // its own hooks are not those of its nodes
		cluster.OnNewNode(func(node *redis.Client) { node.AddHook(hook) })
		return
	}
	client.AddHook(hook)
}

// isHello reports whether a connection is being opened, for another command.
func isHello(commands []redis.Cmder) bool { return len(commands) == 1 && commands[0].Name() == "hello" }
