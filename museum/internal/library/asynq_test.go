package library_test

import (
	"errors"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
)

// A task that is refused because of its ID keeps its unique lock, although no calls overlap and no command fails, as
// reports/asynq-id-conflict.md says.
func TestIDConflictKeepsUniqueLock(t *testing.T) {
	client := asynq.NewClient(asynq.RedisClientOpt{Addr: miniredis.RunT(t).Addr()})
	defer client.Close()
	for _, call := range []struct {
		kind    string
		options []asynq.Option
		want    error
	}{
		{"mail", []asynq.Option{asynq.TaskID("42")}, nil},
		{"report", []asynq.Option{asynq.TaskID("42"), asynq.Unique(time.Hour)}, asynq.ErrTaskIDConflict},
		{"report", []asynq.Option{asynq.TaskID("43"), asynq.Unique(time.Hour)}, asynq.ErrDuplicateTask}, // there is none
	} {
		if _, err := client.Enqueue(asynq.NewTask(call.kind, nil), call.options...); !errors.Is(err, call.want) {
			t.Errorf("%s: %v; want %v", call.kind, err, call.want)
		}
	}
}
