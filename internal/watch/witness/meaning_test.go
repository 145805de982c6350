package witness

import (
	"testing"

	"github.com/redis/go-redis/v9"
)

// A native release names its owner, and its reply says only whether the lock was that owner's.
func TestMeaningOfANativeRelease(t *testing.T) {
	for _, args := range [][]any{
		{"delex", "distributedLock", "IFEQ", "distributedLock:one"},
		{"DELIFEQ", "distributedLock", "distributedLock:one"},
	} {
		for reply, outcome := range map[int64]Outcome{1: Done, 0: NotOwner} {
			want := meaning{verb: Removes, outcome: outcome, owner: "distributedLock:one"}
			if got := meaningOf(args, reply, nil); got != want {
				t.Errorf("%v → %d means %+v; want %+v", args, reply, got, want)
			}
		}
		if got := meaningOf(args, nil, redis.ErrClosed).outcome; got != Unknown {
			t.Errorf("%v, without a reply, is %s", args, got)
		}
	}
}
