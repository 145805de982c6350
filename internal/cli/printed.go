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

// exitUnread is the exit code of a command whose output is read no further, as a shell reports it.
const exitUnread = 128 + int(syscall.SIGPIPE)

var errUnread = errors.New("nobody reads it")

// printed is standard output. It keeps the first error of writing to it: most of what prints for people does not look at that.
type printed struct {
	to     io.Writer
	ending <-chan struct{} // closed when the command is to end: from then on it does not wait for long until it is read
	end    func()          // ends the command once nobody can read it any more; nil: the command outlives that

	mu  sync.Mutex
	err error
}

// outlive lets a command go on when nobody can read its standard output any more.
func outlive(cmd *cobra.Command) {
	if out, ok := cmd.OutOrStdout().(*printed); ok {
		out.end = nil
	}
}

// Write implements io.Writer.
func (p *printed) Write(text []byte) (int, error) {
	if errors.Is(p.failed(nil), errUnread) {
		return 0, errUnread
	}
	n, err := p.write(text)
	if errors.Is(err, syscall.EPIPE) && p.end != nil {
		p.end()
	}
	_ = p.failed(err)
	return n, err
}

func (p *printed) write(text []byte) (n int, err error) {
	written, text := make(chan struct{}), bytes.Clone(text)
	go func() {
		defer close(written)
		n, err = p.to.Write(text)
	}()
	select {
	case <-written:
		return n, err
	case <-p.ending:
	}
	select {
	case <-written:
		return n, err
	case <-time.After(flushTime):
		return 0, errUnread
	}
}

// failed notes an error, and returns the first one.
func (p *printed) failed(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
	return p.err
}

// orError returns the error of a command, or that what it printed is lost.
func (p *printed) orError(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var code exitCode
	switch {
	case p.err == nil:
		return err
	case errors.Is(p.err, syscall.EPIPE) && p.end != nil:
		return exitCode(exitUnread) // whoever stopped reading knows it
	case err == nil || errors.As(err, &code) || errors.Is(err, p.err):
		return fmt.Errorf("standard output: %w", p.err)
	default:
		return errors.Join(fmt.Errorf("standard output: %w", p.err), err)
	}
}

// fileOf returns the file that a writer is, or that printed writes to; nil if it is none.
func fileOf(w io.Writer) *os.File {
	if p, is := w.(*printed); is {
		return fileOf(p.to)
	}
	file, _ := w.(*os.File)
	return file
}
