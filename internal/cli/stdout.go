package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// exitUnread is the exit code of a command whose reader has closed the pipe: that of a process killed by SIGPIPE, as a shell reports it.
const exitUnread = 128 + int(syscall.SIGPIPE)

// errUnread is the error of a write to standard output that nobody reads within flushTimeout at the end of a command.
var errUnread = errors.New("nobody reads it")

// stdoutWriter is standard output. It keeps its first write error, as most code that prints does not check for one.
type stdoutWriter struct {
	to     io.Writer
	done   <-chan struct{} // closed when the command is cancelled; from then on a write waits for at most flushTimeout
	cancel func()          // cancels the command when the pipe has no reader; nil: the command goes on

	mu  sync.Mutex
	err error // first write error; nil: none
}

// ignoreClosedStdout lets a command continue when its standard output has no reader any more.
func ignoreClosedStdout(cmd *cobra.Command) {
	if out, ok := cmd.OutOrStdout().(*stdoutWriter); ok {
		out.cancel = nil
	}
}

// Write implements io.Writer.
func (p *stdoutWriter) Write(text []byte) (int, error) {
	if errors.Is(p.keepError(nil), errUnread) {
		return 0, errUnread
	}
	n, err := p.write(text)
	if errors.Is(err, syscall.EPIPE) && p.cancel != nil {
		p.cancel()
	}
	_ = p.keepError(err)
	return n, err
}

// write writes text. Once the command is cancelled, it fails with errUnread after flushTimeout.
func (p *stdoutWriter) write(text []byte) (n int, err error) {
	written, text := make(chan struct{}), bytes.Clone(text)
	go func() {
		defer close(written)
		n, err = p.to.Write(text)
	}()
	select {
	case <-written:
		return n, err
	case <-p.done:
	}
	select {
	case <-written:
		return n, err
	case <-time.After(flushTimeout):
		return 0, errUnread
	}
}

// keepError stores the first error, and returns it.
func (p *stdoutWriter) keepError(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
	return p.err
}

// orError returns the error of a command, joined with the error of its output if that is lost.
func (p *stdoutWriter) orError(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var code exitCode
	switch {
	case p.err == nil:
		return err
	case errors.Is(p.err, syscall.EPIPE) && p.cancel != nil:
		return exitCode(exitUnread) // Whoever closed the pipe needs no message.
	case err == nil || errors.As(err, &code) || errors.Is(err, p.err):
		return fmt.Errorf("standard output: %w", p.err)
	default:
		return errors.Join(fmt.Errorf("standard output: %w", p.err), err)
	}
}

// fileOf returns the file that w is, or that it writes to as a stdoutWriter; nil if there is no file.
func fileOf(w io.Writer) *os.File {
	if p, ok := w.(*stdoutWriter); ok {
		return fileOf(p.to)
	}
	file, _ := w.(*os.File)
	return file
}
