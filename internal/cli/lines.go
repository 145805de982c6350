package cli

import (
	"bufio"
	"context"
	"io"
	"strings"
)

// lines reads lines until ctx ends. Nothing can interrupt what waits for a person, so that is left behind then.
func lines(ctx context.Context, in io.Reader) <-chan string {
	all := make(chan string)
	go func() {
		defer close(all)
		for scanner := bufio.NewScanner(in); scanner.Scan(); {
			select {
			case all <- strings.TrimSpace(scanner.Text()):
			case <-ctx.Done():
				return
			}
		}
	}()
	return all
}
