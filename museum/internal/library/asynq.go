package library

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

// The one task that is to be unique.
const (
	asynqQueue = "default"
	asynqKind  = "report"
	asynqTTL   = time.Second // the shortest it takes
)

// Asynq is the lock that keeps asynq's tasks unique: an actor holds it while its task is in the queue.
func Asynq() Library {
	return Library{
		Name: "asynq", Module: "github.com/hibiken/asynq", Key: "asynq:{default}:unique:report:", Nodes: 1,
		Usage: "`EnqueueContext(ctx, task, Unique(1s), TaskID(…))`, `DeleteTask`; the client resends a command up to three times, " +
			"as go-redis does by default",
		Says:   "Task enqueued with this option is guaranteed to be unique within the given ttl.",
		Source: "https://pkg.go.dev/github.com/hibiken/asynq@v0.26.0#Unique",
		Open:   func(process string, dial Dial) (Process, error) { return openAsynq(process, dial), nil },
	}
}

type asynqProcess struct {
	name      string
	client    *redis.Client
	tasks     *asynq.Client
	inspector *asynq.Inspector
	calls     atomic.Int64
}

func openAsynq(process string, dial Dial) *asynqProcess {
	client := goRedis(dial, 0, true)
	return &asynqProcess{
		name: process, client: client,
		tasks: asynq.NewClientFromRedisClient(client), inspector: asynq.NewInspectorFromRedisClient(client),
	}
}

func (p *asynqProcess) Lock(ctx context.Context) (Held, error) {
	id := fmt.Sprintf("%s-%d", p.name, p.calls.Add(1)) // instead of a random one, which would be in the task's message, too
	task := asynq.NewTask(asynqKind, nil)
	info, err := p.tasks.EnqueueContext(ctx, task, asynq.Unique(asynqTTL), asynq.TaskID(id))
	if err != nil {
		return nil, err
	}
	return asynqHeld{p.inspector, info.ID}, nil
}

func (p *asynqProcess) Close() { _ = p.client.Close() } // there is nothing behind it

type asynqHeld struct {
	inspector *asynq.Inspector
	task      string
}

// Valid is true: the library does not tell its holder anything.
func (asynqHeld) Valid() bool { return true }

func (h asynqHeld) Unlock(context.Context) error { return h.inspector.DeleteTask(asynqQueue, h.task) }
