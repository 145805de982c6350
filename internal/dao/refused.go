package dao

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock"
)

// errTooManyClients means that Redis refused a connection, as it has maxclients of them: nothing was sent.
var errTooManyClients = fmt.Errorf("%w: it takes no more connections", lock.ErrUnavailable)

// nameRefusals makes every connection of a client fail with errTooManyClients if Redis refuses it: go-redis takes that for an older server,
// which does not know HELLO, and sends its command.
func nameRefusals(client redis.UniversalClient) {
	hook := redisclient.Around(func(ctx context.Context, commands []redis.Cmder, send func(context.Context) error) error {
		err := send(ctx)
		if isHello(commands) && redis.IsMaxClientsError(err) { // as text, or go-redis would know it again
			err = fmt.Errorf("%w: %s; redis.pool_size bounds those of a process, maxclients those of the server", errTooManyClients, err.Error())
			return fmt.Errorf("%w", err) // go-redis unwraps it once
		}
		return err
	})
	if cluster, is := client.(*redis.ClusterClient); is { // its own hooks are not those of its nodes
		cluster.OnNewNode(func(node *redis.Client) { node.AddHook(hook) })
		return
	}
	client.AddHook(hook)
}

// isHello reports whether a connection is being opened, for another command.
func isHello(commands []redis.Cmder) bool { return len(commands) == 1 && commands[0].Name() == "hello" }
