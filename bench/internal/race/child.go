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

// errHung means that a child did not answer in time.
var errHung = errors.New("it did not come back")

// child is a worker process. It ends when its standard input closes, when it is killed, and when the context it was started with
// ends.
type child struct {
	command *exec.Cmd
	stdin   io.WriteCloser
	tells   *json.Encoder
	says    chan json.RawMessage // closed when it says nothing more
	stderr  bytes.Buffer         // to be read after says was closed
	ended   chan struct{}
}

func startChild(ctx context.Context, command []string) (*child, error) {
	c := &child{command: exec.CommandContext(ctx, command[0], command[1:]...), says: make(chan json.RawMessage, 2), ended: make(chan struct{})}
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
	c.stdin, c.tells = stdin, json.NewEncoder(stdin)
	go c.listen(stdout)
	return c, nil
}

// listen hands on what the child says until it ends.
func (c *child) listen(stdout io.Reader) {
	defer close(c.ended)
	for decoder := json.NewDecoder(stdout); ; {
		var line json.RawMessage
		if decoder.Decode(&line) != nil {
			break
		}
		c.says <- line
	}
	_ = c.command.Wait() // what it has to say is in stderr
	close(c.says)
}

// tell sends the child a line.
func (c *child) tell(what any) error {
	if err := c.tells.Encode(what); err != nil {
		return fmt.Errorf("a process that ended: %w", err)
	}
	return nil
}

// hear waits for the child's next line. It fails with errHung if there is none in time, and with what it said on standard error
// if it ended.
func (c *child) hear(what any, patience time.Duration) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case line, ok := <-c.says:
		if !ok {
			return fmt.Errorf("a process ended: %s", strings.TrimSpace(c.stderr.String()))
		}
		return json.Unmarshal(line, what)
	case <-timer.C:
		return fmt.Errorf("%w %v after its time, and was ended", errHung, patience)
	}
}

// wait waits until the child has ended, which it does by itself or because its context did.
func (c *child) wait() {
	_ = c.stdin.Close() // it may have ended
	<-c.ended
}
