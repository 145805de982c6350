package cli

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestMetrics(t *testing.T) {
	eachRedis(t, func(t *testing.T, redis []string) {
		s := start(t, append(redis, "--lock.version", "v4", "--inventory.initial", "2", "--server.replica", "shop-1")...)
		for range 3 {
			s.sell()
		}
		_, text := s.send(t.Context(), "GET", "/metrics", "", nil)
		value := func(name, labels string) float64 {
			t.Helper()
			line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + `\{([^}]*)\} (\S+)$`)
			for _, found := range line.FindAllStringSubmatch(string(text), -1) {
				if strings.Contains(found[1], labels) && strings.Contains(found[1], `replica="shop-1"`) {
					v, err := strconv.ParseFloat(found[2], 64)
					if err != nil {
						t.Fatal(err)
					}
					return v
				}
			}
			t.Errorf("there is no %s{%s}", name, labels)
			return -1
		}
		for _, c := range []struct {
			name, labels string
			want         float64
		}{
			{"lockstep_sales_total", `outcome="sold"`, 2},
			{"lockstep_sales_total", `outcome="sold_out"`, 1},
			{"lockstep_lock_wait_seconds_count", `lock="v4"`, 3},
			{"lockstep_lock_hold_seconds_count", `lock="v4"`, 3},
			{"lockstep_lock_waiters", `lock="v4"`, 0},
			{"lockstep_run_sold", `lock="v4"`, 2},
			{"lockstep_run_remaining", `lock="v4"`, 0},
			{"lockstep_run_lost", `lock="v4"`, 0},
			{"lockstep_run_in_flight", `lock="v4"`, 0},
		} {
			if got := value(c.name, c.labels); got != c.want {
				t.Errorf("%s{%s} is %v; want %v", c.name, c.labels, got, c.want)
			}
		}
		if sets := value("lockstep_redis_commands_total", `command="set"`); sets < 3 { // three locks; the stock is set by a script
			t.Errorf("%v SET commands", sets)
		}
		if value("go_goroutines", "") < 2 {
			t.Error("goroutines are not counted")
		}
	})
}
