package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// longestLine is how long a line of standard input may be, in bytes.
const longestLine = 1 << 20

// lines reads lines until ctx ends. Nothing can interrupt what waits for a person, so that is left behind then. Once there are no more
// lines, broken returns why they ended before standard input did, if so.
func lines(ctx context.Context, in io.Reader) (all <-chan string, broken func() error) {
	read, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(read)
		scanner := bufio.NewScanner(in)
		scanner.Buffer(nil, longestLine)
		for scanner.Scan() {
			select {
			case read <- strings.TrimSpace(scanner.Text()):
			case <-ctx.Done():
				return
			}
		}
		failed <- scanner.Err()
	}()
	return read, func() error {
		select {
		case err := <-failed:
			return unreadable(err)
		default:
			return nil
		}
	}
}

func unreadable(err error) error {
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("standard input: a line is longer than %d bytes", longestLine)
	case err != nil:
		return fmt.Errorf("standard input: %w", err)
	default:
		return nil
	}
}
