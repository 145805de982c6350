package library

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hibiken/asynq"

	"lockstep/locktest"
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
		Open:   func(p locktest.Process) (locktest.Lock, error) { return openAsynq(p), nil },
	}
}

type asynqProcess struct {
	name      string
	tasks     *asynq.Client
	inspector *asynq.Inspector
	calls     atomic.Int64
}

func openAsynq(p locktest.Process) *asynqProcess {
	client := goRedis(p, 0, true)
	return &asynqProcess{
		name: p.Name, tasks: asynq.NewClientFromRedisClient(client), inspector: asynq.NewInspectorFromRedisClient(client),
	}
}

func (p *asynqProcess) Lock(ctx context.Context) (locktest.Held, error) {
	id := fmt.Sprintf("%s-%d", p.name, p.calls.Add(1)) // instead of a random one, which would be in the task's message, too
	task := asynq.NewTask(asynqKind, nil)
	info, err := p.tasks.EnqueueContext(ctx, task, asynq.Unique(asynqTTL), asynq.TaskID(id))
	if err != nil {
		return nil, err
	}
	return asynqHeld{p.inspector, info.ID}, nil
}

type asynqHeld struct {
	inspector *asynq.Inspector
	task      string
}

func (h asynqHeld) Unlock(context.Context) error { return h.inspector.DeleteTask(asynqQueue, h.task) }
