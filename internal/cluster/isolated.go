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

// Isolated is a Cluster whose replicas share only the program with this process: they have a directory of their own, and only the settings
// given to StartIsolated.
type Isolated struct {
	*Cluster

	dir    string // working directory of the replicas
	stderr tail   // standard error of all replicas
}

// StartIsolated starts n replicas as Start does. command returns the arguments for a replica's name: a subcommand of the program, and the
// settings as flags. The caller must call Close.
func StartIsolated(
	ctx context.Context, program string, n int, command func(name string) []string, grace time.Duration,
) (_ *Isolated, err error) {
	c := &Isolated{}
	if c.dir, err = os.MkdirTemp("", "lockstep-replicas-"); err != nil {
		return nil, fmt.Errorf("creating a directory for the replicas: %w; TMPDIR selects another place", err)
	}
	c.Cluster, err = Start(ctx, n, func(name string) *exec.Cmd {
		words := command(name)
		own := []string{words[0], "--until-stdin-ends", "--log.level=error", "--server.replica=" + name}
		cmd := exec.Command(program, append(own, words[1:]...)...)
		cmd.Dir, cmd.Stderr = c.dir, &c.stderr
		cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "LOCKSTEP_") })
		return cmd
	}, grace, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s", err, c.Output()), os.RemoveAll(c.dir))
	}
	return c, nil
}

// Output returns the last tailSize bytes that the replicas wrote to standard error.
func (c *Isolated) Output() string {
	c.stderr.mu.Lock()
	defer c.stderr.mu.Unlock()
	return string(c.stderr.text)
}

// Close stops the replicas, and removes their directory.
func (c *Isolated) Close() error {
	c.Stop()
	return os.RemoveAll(c.dir)
}

// tail is a writer that keeps the last tailSize bytes. It is safe for concurrent use.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// tailSize is the number of bytes that a tail keeps: some tens of lines.
const tailSize = 4000

// Write implements io.Writer. It never fails.
func (t *tail) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, text...)
	t.text = slices.Clone(t.text[max(0, len(t.text)-tailSize):])
	return len(text), nil
}
