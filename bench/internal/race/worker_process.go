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

// errNoReport is returned if a worker process does not answer in time.
var errNoReport = errors.New("no report")

// workerProcess is a child process that runs package worker. It ends when its standard input closes, when it is killed, and when the
// context of startWorker ends.
type workerProcess struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	encoder *json.Encoder
	lines   chan json.RawMessage // lines of its standard output; closed at its end
	stderr  bytes.Buffer         // standard error; must not be read before lines is closed
	exited  chan struct{}
}

// startWorker starts a worker process.
func startWorker(ctx context.Context, command []string) (*workerProcess, error) {
	c := &workerProcess{
		command: exec.CommandContext(ctx, command[0], command[1:]...),
		lines:   make(chan json.RawMessage, 2),
		exited:  make(chan struct{}),
	}
	c.command.Stderr = &c.stderr
	stdin, err := c.command.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting a worker process: %w", err)
	}
	stdout, err := c.command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting a worker process: %w", err)
	}
	if err := c.command.Start(); err != nil {
		return nil, fmt.Errorf("starting a worker process: %w", err)
	}
	c.stdin, c.encoder = stdin, json.NewEncoder(stdin)
	go c.readLines(stdout)
	return c, nil
}

// readLines sends the lines of standard output to lines until the process ends.
func (w *workerProcess) readLines(stdout io.Reader) {
	defer close(w.exited)
	for decoder := json.NewDecoder(stdout); ; {
		var line json.RawMessage
		if decoder.Decode(&line) != nil {
			break
		}
		w.lines <- line
	}
	_ = w.command.Wait() // stderr has the reason
	close(w.lines)
}

// send sends a line of JSON.
func (w *workerProcess) send(what any) error {
	if err := w.encoder.Encode(what); err != nil {
		return fmt.Errorf("a worker process that has ended: %w", err)
	}
	return nil
}

// receive waits for the next line. It fails with errNoReport if there is none in time, and with the text of standard error if the process
// has ended.
func (w *workerProcess) receive(what any, patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case line, ok := <-w.lines:
		if !ok {
			return fmt.Errorf("a worker process ended: %s", strings.TrimSpace(w.stderr.String()))
		}
		return json.Unmarshal(line, what)
	case <-timer.C:
		return fmt.Errorf("%w from a worker process, which was killed %v after the window", errNoReport, patience)
	}
}

// waitForExit waits until the process has ended, by itself or because its context has.
func (w *workerProcess) waitForExit() {
	_ = w.stdin.Close() // fails if the process has ended
	<-w.exited
}
