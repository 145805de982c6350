//go:build unix

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"lockstep/internal/test/shoptest"
	"lockstep/internal/test/suite"
)

// More buyers than files may be open are refused before anything begins, by the numbers.
func TestBurstWithinTheFileLimit(t *testing.T) {
	suite.Needs(t, "sh")
	silent := shoptest.UnusedAddr(t)
	for _, c := range []struct {
		files, buyers, requests int
		says                    string
	}{
		{600, 201, 201, "-c 201 is not allowed: so many buyers need 602 open files at once, and this process may have 600: " +
			"raise the limit first (ulimit -n 602), or let fewer come at once"},
		{600, 201, 20, "verdict"}, // twenty requests are of twenty buyers at once
	} {
		line := fmt.Sprintf(`ulimit -n %d && exec "$0" burst -c %d -n %d --lock v4 --server.addr %s`, c.files, c.buyers, c.requests, silent)
		output, _ := exec.CommandContext(t.Context(), "sh", "-c", line, os.Args[0]).CombinedOutput()
		if !strings.Contains(string(output), c.says) {
			t.Errorf("%s\n%swant %q", line, output, c.says)
		}
	}
}
