package redistest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/redistest"
)

var errRefused = errors.New("refused")

// newActor returns an actor whose process has a client of its own.
func newActor(do func(context.Context, *redis.Client) error) func(redistest.Process) (func(context.Context) error, error) {
	return func(p redistest.Process) (func(context.Context) error, error) {
		client := redis.NewClient(&redis.Options{Addr: p.Addr(0), Dialer: p.Dial, MaxRetries: -1})
		p.Cleanup(func() { _ = client.Close() })
		return func(ctx context.Context) error { return do(ctx, client) }, nil
	}
}

// setInitially sets the initial value of a key.
func setInitially(key string, value any) func(redistest.Redis) {
	return func(r redistest.Redis) { r.Do("SET", key, value) }
}

// show prints what is found in a system under these faults. In a test of your own, redistest.Explore prints it and fails the test.
func show(faults string, system redistest.System) {
	var result redistest.Result
	runInTest(func(t *testing.T) {
		var err error
		if result, err = redistest.Search(t, redistest.Config{Faults: faults}, system); err != nil {
			panic(err)
		}
	})
	if result.Vacuous+result.Incomplete != "" {
		panic(result.Vacuous + result.Incomplete)
	}
	for _, found := range result.Found {
		fmt.Printf("%s: %s\n%s\n", found.Anomaly, found.Says, found.Schedule)
	}
	if len(result.Found) == 0 {
		fmt.Println("nothing in every schedule")
	}
}

// runInTest runs f in a test, which an example does not have. Output of package testing is discarded.
func runInTest(f func(t *testing.T)) {
	stdout := os.Stdout
	defer func() { os.Stdout = stdout }()
	os.Stdout, _ = os.Open(os.DevNull)
	testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{F: f}})
}
