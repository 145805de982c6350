package dao

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock/rediserr"
)

const (
	// clusterReloadInterval is the maximum age of a client's map from slots to nodes. With go-redis's default of a minute, an outage after
	// a failover would last as long.
	clusterReloadInterval = time.Second
	// maxRedirects bounds how often a command follows a redirection or waits for a slot that is moving: about two seconds in total.
	maxRedirects = 8
)

// newClusterClient returns a Redis Cluster client that follows redirections, which is safe because a redirected command had no effect. By
// itself go-redis would also retry a command whose reply was lost; noRetryHook prevents that.
func newClusterClient(cfg redisclient.Config) *redis.ClusterClient {
	options := redisclient.Options(cfg).Cluster()
	options.MaxRedirects, options.ClusterStateReloadInterval = maxRedirects, clusterReloadInterval
	client := redis.NewClusterClient(options)
	client.OnNewNode(func(node *redis.Client) { node.AddHook(noRetryHook{}) })
	return client
}

// noRetryHook is the go-redis hook of a Cluster node's client. It wraps the error of a command that may have had an effect in a
// hiddenError, so that the Cluster client does not retry the command; sendWithoutRetry unwraps it. Commands sent directly to the node, as
// after WATCH, keep their errors.
type noRetryHook struct{}

// noRetryKey is the context key that marks a command sent by sendWithoutRetry.
type noRetryKey struct{}

// DialHook implements redis.Hook.
func (noRetryHook) DialHook(next redis.DialHook) redis.DialHook { return next }

// ProcessHook implements redis.Hook.
func (noRetryHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		commands := []redis.Cmder{command}
		send := func(ctx context.Context) error { return next(ctx, command) }
		if isHandshake(commands) {
			return openConnection(ctx, commands, send)
		}
		err := send(ctx)
		if err == nil || isRedirection(err) || ctx.Value(noRetryKey{}) == nil {
			return err
		}
		return hiddenError{err}
	}
}

// ProcessPipelineHook implements redis.Hook.
func (noRetryHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// isRedirection reports whether a Cluster node refused a command that another node, or the same one a moment later, will execute.
func isRedirection(err error) bool {
	_, isAsk := redis.IsAskError(err)
	return isAsk || isMoved(err) || redis.IsTryAgainError(err) || redis.IsClusterDownError(err)
}

// hiddenError hides an error from go-redis, which decides by its type whether to retry: it has no Unwrap method.
type hiddenError struct{ err error }

func (h hiddenError) Error() string { return "error of a node: " + h.err.Error() }

// sendWithoutRetry sends commands to a Cluster at most once per node that can execute them. After a missing reply it reloads the slot map,
// because the node may be gone and another may serve its slots.
func sendWithoutRetry(ctx context.Context, cluster *redis.ClusterClient, send func(context.Context) error) error {
	err := send(context.WithValue(ctx, noRetryKey{}, true))
	if node, ok := err.(hiddenError); ok { //nolint:errorlint // hiddenError is never wrapped
		err = node.err
	}
	if err != nil && !rediserr.IsAnswer(err) {
		cluster.ReloadState(ctx)
	}
	return err
}
