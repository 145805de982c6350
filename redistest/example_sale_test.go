package redistest_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"

	"lockstep/redistest"
)

// The sale of the write-up oversells without a lock. With SET NX, a crash blocks all others. With a lock that expires, two sell at once if
// one is slow.
func Example_sale() {
	show("", sale(noLock))
	show("", sale(setNX(0)))
	show("crash=1", sale(setNX(0)))
	show("slow=1", sale(setNX(time.Second)))
	show("crash=1", sale(owned))
	// Output:
	// check: 2 are sold, and 1 of 2 are left
	// A:start B:start A:GET B:GET A:SET B:SET
	// nothing in every schedule
	// stuck: B asks again and again, and its call of start never comes back
	// A:start B:start A:SET A:crash
	// check: 2 are sold, and 1 of 2 are left
	// A:start B:start A:SET A:GET slow B:SET B:GET A:SET A:DEL B:SET B:DEL
	// nothing in every schedule
}

// saleHandler is the sale of the write-up: a gin handler that reads the stock and writes one less, while it holds the lock.
func saleHandler(client *redis.Client, lock mutex) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.POST("/inventory/sale", func(c *gin.Context) {
		ctx := c.Request.Context()
		unlock, err := lock(ctx, client)
		if err != nil {
			c.Status(http.StatusServiceUnavailable)
			return
		}
		defer unlock()
		stock, err := client.Get(ctx, "inventory").Int()
		switch {
		case err != nil:
			c.Status(http.StatusInternalServerError)
		case stock <= 0:
			c.Status(http.StatusConflict)
		case client.Set(ctx, "inventory", stock-1, 0).Err() != nil:
			c.Status(http.StatusInternalServerError)
		default:
			c.Status(http.StatusOK)
		}
	})
	return router
}

// mutex waits for a lock, and returns the function that releases it.
type mutex func(context.Context, *redis.Client) (unlock func(), err error)

// noLock is the first step of the write-up. The next ones are SET NX and DEL, an expiry, and an owner that is compared in a script.
func noLock(context.Context, *redis.Client) (func(), error) { return func() {}, nil }

func setNX(expiry time.Duration) mutex {
	return func(ctx context.Context, client *redis.Client) (func(), error) {
		return func() { client.Del(context.WithoutCancel(ctx), "lock") }, poll(ctx, client, "1", expiry)
	}
}

var compareAndDelete = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

func owned(ctx context.Context, client *redis.Client) (func(), error) {
	owner := rand.Text()
	return func() {
		compareAndDelete.Run(context.WithoutCancel(ctx), client, []string{"lock"}, owner)
	}, poll(ctx, client, owner, time.Second)
}

// poll repeats SET NX until it has the lock.
func poll(ctx context.Context, client *redis.Client, owner string, expiry time.Duration) error {
	for {
		took, err := client.SetNX(ctx, "lock", owner, expiry).Result()
		if took || err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// sale is the handler under a lock. Each buyer has its own server.
func sale(lock mutex) redistest.System {
	return redistest.System{
		Setup: setInitially("inventory", 2),
		Actor: newActor(func(ctx context.Context, client *redis.Client) error {
			answer := httptest.NewRecorder()
			saleHandler(client, lock).ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodPost, "/inventory/sale", http.NoBody))
			if answer.Code != http.StatusOK {
				return fmt.Errorf("%w: %d", errRefused, answer.Code)
			}
			return nil
		}),
		Check: func(e redistest.End) error {
			if sold, left := e.Succeeded(), e.Redis.Int("inventory"); left > 2-sold {
				return fmt.Errorf("%d are sold, and %d of 2 are left", sold, left)
			}
			return nil
		},
	}
}
