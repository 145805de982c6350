package locktest_test

import (
	_ "embed"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/locktest"
)

//go:embed doc.go
var packageDoc string

// The package comment shows the drawing that its example prints.
func TestPackageCommentShowsDrawing(t *testing.T) {
	open := func(p locktest.Process) (locktest.Lock, error) {
		client := redis.NewClient(&redis.Options{Addr: p.Addr(0), Dialer: p.Dial, MaxRetries: -1})
		p.Cleanup(func() { _ = client.Close() })
		return setNX{client, p.Name}, nil
	}
	shown, err := locktest.Show(t, locktest.Config{Key: "orders", Faults: "lost-reply=1"}, "A:Lock A:SET/lost", open, locktest.LeftBehind)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(shown.Drawing) {
		if line = strings.TrimSpace(line); !strings.Contains(packageDoc, line) {
			t.Errorf("the package comment lacks %q, of\n%s", line, shown.Drawing)
		}
	}
}
