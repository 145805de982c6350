package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// Isolated is replicas that have nothing of this process but its program: a directory of their own, and the settings that they are given.
type Isolated struct {
	*Cluster

	dir  string
	said tail
}

// StartIsolated starts n replicas as Start does, each by what command gives for its name: a command of the program, and its settings as
// flags. The caller must Close it.
func StartIsolated(
	ctx context.Context, program string, n int, command func(name string) []string, grace time.Duration,
) (_ *Isolated, err error) {
	c := &Isolated{}
	if c.dir, err = os.MkdirTemp("", "lockstep-replicas-"); err != nil {
		return nil, fmt.Errorf("a directory for replicas: %w; TMPDIR says where", err)
	}
	c.Cluster, err = Start(ctx, n, func(name string) *exec.Cmd {
		words := command(name)
		own := []string{words[0], "--until-stdin-ends", "--log.level=error", "--server.replica=" + name}
		cmd := exec.Command(program, append(own, words[1:]...)...)
		cmd.Dir, cmd.Stderr = c.dir, &c.said
		cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "LOCKSTEP_") })
		return cmd
	}, grace, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s", err, c.Said()), os.RemoveAll(c.dir))
	}
	return c, nil
}

// Said gives the last of what the replicas said.
func (c *Isolated) Said() string {
	c.said.mu.Lock()
	defer c.said.mu.Unlock()
	return string(c.said.text)
}

// Close ends the replicas, and removes their directory.
func (c *Isolated) Close() error {
	c.Stop()
	return os.RemoveAll(c.dir)
}

// tail keeps the last of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// tailSize is how much is kept, in bytes.
const tailSize = 4000

func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	t.text = slices.Clone(t.text[max(0, len(t.text)-tailSize):])
	return len(text), nil
}
