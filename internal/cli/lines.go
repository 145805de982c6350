package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"lockstep/internal/language"
)

// longestLine is the maximum length of a line of standard input, in bytes.
const longestLine = 1 << 20

// readLines reads lines until ctx ends. A read that waits for a person cannot be interrupted, so its goroutine is left behind then. Once
// the channel is closed, readErr returns the error that ended the input early; nil if there was none.
func readLines(ctx context.Context, input io.Reader) (all <-chan string, readErr func() error) {
	read, failed := make(chan string), make(chan error, 1)
	go func() {
		defer close(read)
		scanner := bufio.NewScanner(input)
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
			return describeReadError(err)
		default:
			return nil
		}
	}
}

// describeReadError returns err as an error of standard input; nil if err is nil.
func describeReadError(err error) error {
	switch {
	case errors.Is(err, bufio.ErrTooLong):
		return language.Translate(fmt.Errorf("standard input: a line is longer than %d bytes", longestLine),
			"标准输入：有一行超过 %d 字节", longestLine)
	case err != nil:
		return fmt.Errorf("standard input: %w", err)
	default:
		return nil
	}
}
