package history_test

import (
	"testing"

	"lockstep/internal/history"
)

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		what                           string
		initial, remaining, sold, most int64
		lost, oversold                 int64
		verdict                        history.Verdict
		exit                           int
	}{
		{"all is equal, and sales overlapped", 200, 0, 200, 200, 0, 0, history.Pass, 0},
		{"some is left", 200, 150, 50, 2, 0, 0, history.Pass, 0},
		{"nobody overlapped", 200, 150, 50, 1, 0, 0, history.Unknown, 2},
		{"nothing was sold", 200, 200, 0, 9, 0, 0, history.Unknown, 2},
		{"updates were lost", 1000, 987, 1000, 1000, 987, 0, history.Oversold, 1},
		{"more was sold than there was, and the stock hides it", 1, 0, 2, 2, 1, 1, history.Oversold, 1},
		{"the stock went below zero", 1, -1, 2, 2, 0, 1, history.Oversold, 1},
		{"the stock fell without a sale", 200, 100, 50, 50, -50, 0, history.Undersold, 1},
		{"lost updates count even of one who was alone", 10, 10, 1, 1, 1, 0, history.Oversold, 1},
	} {
		tally := history.Tally{Run: history.Run{Initial: c.initial}, Remaining: c.remaining, Sold: c.sold, MaxInFlight: c.most}
		if tally.Lost() != c.lost || tally.Oversold() != c.oversold || tally.Verdict() != c.verdict || tally.Verdict().ExitCode() != c.exit {
			t.Errorf("%s: lost %d, oversold %d, %s, exit code %d; want %+v",
				c.what, tally.Lost(), tally.Oversold(), tally.Verdict(), tally.Verdict().ExitCode(), c)
		}
	}
}
