package consumer

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"lockstep/redistest"
)

// handler sells a piece, as many programs do.
func handler(client *redis.Client) http.Handler {
	router := gin.New()
	router.POST("/inventory/sale", func(c *gin.Context) {
		stock, err := client.Get(c, "inventory").Int()
		if err == nil && stock <= 0 {
			c.Status(http.StatusConflict)
			return
		}
		if err == nil {
			err = client.Set(c, "inventory", stock-1, 0).Err()
		}
		if err != nil {
			c.Status(http.StatusInternalServerError)
		}
	})
	return router
}

// TestSale fails. It is in docs/your-own-lock.md.
func TestSale(t *testing.T) {
	redistest.Explore(t, redistest.Config{}, redistest.System{
		Setup: func(r redistest.Redis) { r.Do("SET", "inventory", 2) },
		Actor: func(p redistest.Process) (func(context.Context) error, error) {
			client := redis.NewClient(&redis.Options{Addr: p.Addr(0), Dialer: p.Dial, MaxRetries: -1})
			p.Cleanup(func() { _ = client.Close() })
			shop := handler(client)
			return func(ctx context.Context) error { return post(ctx, shop, "/inventory/sale") }, nil
		},
		Check: func(e redistest.End) error {
			if sold, left := e.Succeeded(), e.Redis.Int("inventory"); left > 2-sold {
				return fmt.Errorf("%d are sold, and %d of 2 are left", sold, left)
			}
			return nil
		},
	})
}

func post(ctx context.Context, to http.Handler, path string) error {
	answer := httptest.NewRecorder()
	to.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodPost, path, http.NoBody))
	if answer.Code != http.StatusOK {
		return fmt.Errorf("POST %s: %d", path, answer.Code)
	}
	return nil
}

const takeOne = `if tonumber(redis.call("GET", KEYS[1])) > 0 then return redis.call("DECR", KEYS[1]) end return -1`

// TestOverRueidis passes: a script sells each piece once, whatever becomes of the reply.
func TestOverRueidis(t *testing.T) {
	redistest.Explore(t, redistest.Config{Actors: 3, Faults: "lost-reply=1,crash=1"}, redistest.System{
		Setup: func(r redistest.Redis) { r.Do("SET", "inventory", 2) },
		Actor: func(p redistest.Process) (func(context.Context) error, error) {
			client, err := rueidis.NewClient(rueidis.ClientOption{
				InitAddress: []string{p.Addr(0)}, ForceSingleClient: true, DisableRetry: true,
				DialCtxFn: func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
					return p.Dial(ctx, "tcp", addr)
				},
			})
			if err != nil {
				return nil, err
			}
			p.Cleanup(client.Close)
			return func(ctx context.Context) error {
				left, err := client.Do(ctx, client.B().Eval().Script(takeOne).Numkeys(1).Key("inventory").Build()).AsInt64()
				if err == nil && left < 0 {
					err = errors.New("sold out")
				}
				return err
			}, nil
		},
		Check: func(e redistest.End) error {
			sold, doubt, left := e.Succeeded(), e.InDoubt(), e.Redis.Int("inventory")
			if left < 0 || sold > 2-left || sold+doubt < 2-left {
				return fmt.Errorf("%d are sold, %d are in doubt, and %d of 2 are left", sold, doubt, left)
			}
			return nil
		},
	})
}
