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

func TestBurstRefusesMoreBuyersThanFiles(t *testing.T) {
	suite.Needs(t, "sh")
	silent := shoptest.UnusedAddr(t)
	for _, c := range []struct {
		files, buyers, requests int
		says                    string
	}{
		{600, 201, 201, "-c 201 is not allowed: 201 buyers need 602 open files, and the limit of this process is 600: " +
			"raise the limit (ulimit -n 602), or use fewer buyers"},
		{600, 201, 20, "verdict"}, // twenty requests never have more than twenty buyers
	} {
		line := fmt.Sprintf(`ulimit -n %d && exec "$0" burst -c %d -n %d --lock v4 --server.addr %s`, c.files, c.buyers, c.requests, silent)
		output, _ := exec.CommandContext(t.Context(), "sh", "-c", line, os.Args[0]).CombinedOutput()
		if !strings.Contains(string(output), c.says) {
			t.Errorf("%s\n%swant %q", line, output, c.says)
		}
	}
}
