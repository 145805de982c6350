package steps_test

import (
	"strconv"
	"strings"
	"testing"

	"lockstep/internal/explore"
)

func scenario(t *testing.T, flags string) explore.Scenario {
	t.Helper()
	in, fields := explore.Scenario{Actors: 2, Sales: 1, Polls: 3, Overtakes: 1}, strings.Fields(flags)
	for i := 0; i < len(fields); i += 2 {
		number, _ := strconv.Atoi(fields[i+1])
		switch fields[i] {
		case "--faults":
			var err error
			if in.Faults, err = explore.ParseFaults(fields[i+1]); err != nil {
				t.Fatal(err)
			}
		case "--actors":
			in.Actors = number
		case "--sales":
			in.Sales = number
		case "--replicas":
			in.Replicas = number
		case "--nested":
			in.Nested = number
		case "--try":
			in.Try = number
		default:
			t.Fatalf("what is %s?", fields[i])
		}
	}
	return in
}
