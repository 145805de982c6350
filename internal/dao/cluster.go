package dao

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/lock/rediserr"
)

const (
	// clusterReload is how old a client's knowledge of which node has which slot may be. go-redis's own default is a minute, and so is an
	// outage after a failover then.
	clusterReloadInterval = time.Second
	// mostRedirects is how often a command follows a node's answer to another, or waits since the slot is on the move: for two seconds in all.
	maxRedirects = 8
)

// newClusterClient makes a client of a Cluster that goes where the nodes send it: a redirection has had no effect, so following it repeats
// nothing. go-redis would also repeat a command whose reply was lost.
func newClusterClient(cfg redisclient.Config) *redis.ClusterClient {
	options := redisclient.Options(cfg).Cluster()
	options.MaxRedirects, options.ClusterStateReloadInterval = maxRedirects, clusterReloadInterval
	client := redis.NewClusterClient(options)
	client.OnNewNode(func(node *redis.Client) { node.AddHook(noRetryHook{}) })
	return client
}

// onceOnly is the hook of a node. From the client of the Cluster it hides every error of a command that may have had an effect, so that the
// command is not repeated; sendOnce shows the error again. What is sent to the node itself, as after WATCH, is left as it is.
type noRetryHook struct{}

// sentOnce marks the context of a command that sendOnce has sent.
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

// isRedirection reports whether a node of a Cluster did nothing, and another one, or the same a moment later, will.
func isRedirection(err error) bool {
	_, isAsk := redis.IsAskError(err)
	return isAsk || isMoved(err) || redis.IsTryAgainError(err) || redis.IsClusterDownError(err)
}

// hidden is an error that go-redis does not look into.
type hiddenError struct{ err error }

func (h hiddenError) Error() string { return "of a node: " + h.err.Error() }

// sendOnce sends commands to a Cluster. Where no answer came, the node may be gone, and another has its slots: the client asks the others.
func sendWithoutRetry(ctx context.Context, cluster *redis.ClusterClient, send func(context.Context) error) error {
	err := send(context.WithValue(ctx, noRetryKey{}, true))
	if node, ok := err.(hiddenError); ok { //nolint:errorlint // nobody wraps it
		err = node.err
	}
	if err != nil && !rediserr.IsAnswer(err) {
		cluster.ReloadState(ctx)
	}
	return err
}
