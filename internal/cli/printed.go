package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// printed is standard output. It keeps the first error of writing to it: most of what prints for people does not look at that.
type printed struct {
	to io.Writer

	mu  sync.Mutex
	err error
}

// Write implements io.Writer.
func (p *printed) Write(text []byte) (int, error) {
	n, err := p.to.Write(text)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
	return n, err
}

// orError returns the error of a command, or that what it printed is lost.
func (p *printed) orError(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var code exitCode
	switch {
	case p.err == nil:
		return err
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
