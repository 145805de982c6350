package library

import (
	"context"
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

func openAsynq(p locktest.Process) locktest.Lock {
	client, next := goRedis(p, 0, true), owners(p)
	tasks, inspector := asynq.NewClientFromRedisClient(client), asynq.NewInspectorFromRedisClient(client)
	return locktest.Adapter[*asynq.TaskInfo]{
		Acquire: func(ctx context.Context) (*asynq.TaskInfo, error) {
			id := next() // instead of a random one, which would be in the task's message, too
			return tasks.EnqueueContext(ctx, asynq.NewTask(asynqKind, nil), asynq.Unique(asynqTTL), asynq.TaskID(id))
		},
		Release: func(task *asynq.TaskInfo, _ context.Context) error { return inspector.DeleteTask(asynqQueue, task.ID) },
	}
}
