package race

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"
)

// errNoReport means that a child did not answer in time.
var errNoReport = errors.New("it did not come back")

// workerProcess is a worker process. It ends when its standard input closes, when it is killed, and when the context it was started with
// ends.
type workerProcess struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	encoder *json.Encoder
	lines   chan json.RawMessage // closed when it says nothing more
	stderr  bytes.Buffer         // to be read after says was closed
	exited  chan struct{}
}

func startWorker(ctx context.Context, command []string) (*workerProcess, error) {
	c := &workerProcess{command: exec.CommandContext(ctx, command[0], command[1:]...), lines: make(chan json.RawMessage, 2), exited: make(chan struct{})}
	c.command.Stderr = &c.stderr
	stdin, err := c.command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("a process: %w", err)
	}
	stdout, err := c.command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("a process: %w", err)
	}
	if err := c.command.Start(); err != nil {
		return nil, fmt.Errorf("a process: %w", err)
	}
	c.stdin, c.encoder = stdin, json.NewEncoder(stdin)
	go c.readLines(stdout)
	return c, nil
}

// readLines hands on what the child says until it ends.
func (w *workerProcess) readLines(stdout io.Reader) {
	defer close(w.exited)
	for decoder := json.NewDecoder(stdout); ; {
		var line json.RawMessage
		if decoder.Decode(&line) != nil {
			break
		}
		w.lines <- line
	}
	_ = w.command.Wait() // what it has to say is in stderr
	close(w.lines)
}

// send sends the child a line.
func (w *workerProcess) send(what any) error {
	if err := w.encoder.Encode(what); err != nil {
		return fmt.Errorf("a process that ended: %w", err)
	}
	return nil
}

// receive waits for the child's next line. It fails with errHung if there is none in time, and with what it said on standard error
// if it ended.
func (w *workerProcess) receive(what any, patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case line, ok := <-w.lines:
		if !ok {
			return fmt.Errorf("a process ended: %s", strings.TrimSpace(w.stderr.String()))
		}
		return json.Unmarshal(line, what)
	case <-timer.C:
		return fmt.Errorf("%w %v after its time, and was ended", errNoReport, patience)
	}
}

// waitForExit waits until the child has ended, which it does by itself or because its context did.
func (w *workerProcess) waitForExit() {
	_ = w.stdin.Close() // it may have ended
	<-w.exited
}
