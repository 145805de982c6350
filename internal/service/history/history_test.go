package history_test

import (
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/service/history"
	"lockstep/internal/verdict"
)

// The sentence about a verdict contains its numbers, and nothing about what did not happen.
func TestMeansExplainsVerdict(t *testing.T) {
	for _, c := range []struct {
		initial, remaining, sold, most int64
		want                           string
	}{
		{200, 0, 200, 198, "stock and orders agree, with at least 198 requests in flight at once"},
		{200, 169, 200, 200, "200 sold, but the stock fell by 31 only: 169 updates were lost, and those items can be sold twice"},
		{10, 10, 1, 1, "1 sold, but the stock fell by 0 only: 1 update was lost, and that item can be sold twice"},
		{1, 0, 2, 2, "2 sold of 1, and the stock fell by 1 only: 1 update was lost"},
		{1, -1, 2, 2, "2 sold of 1: 1 more than there were"},
		{200, 100, 50, 50, "50 sold, but the stock fell by 100: 50 pieces are gone without an order"},
		{200, 200, 0, 9, "nothing was sold, so nothing was put to the test"},
		{200, 150, 50, 1, "no two requests were in flight at once, so nothing was put to the test"},
	} {
		tally := history.Tally{Run: history.Run{Initial: c.initial}, Remaining: c.remaining, Sold: c.sold, MaxInFlight: c.most}
		if got := tally.Report().Explanation().In(language.English); got != c.want {
			t.Errorf("%+v means %q; want %q", tally.Report(), got, c.want)
		}
	}
}

func TestVerdictOfTally(t *testing.T) {
	for _, c := range []struct {
		what                           string
		initial, remaining, sold, most int64
		lost, oversold                 int64
		verdict                        verdict.Verdict
		exit                           int
	}{
		{"all is equal, and sales overlapped", 200, 0, 200, 200, 0, 0, verdict.Pass, 0},
		{"some is left", 200, 150, 50, 2, 0, 0, verdict.Pass, 0},
		{"nobody overlapped", 200, 150, 50, 1, 0, 0, verdict.Untested, 2},
		{"nothing was sold", 200, 200, 0, 9, 0, 0, verdict.Untested, 2},
		{"updates were lost", 1000, 987, 1000, 1000, 987, 0, verdict.Oversold, 1},
		{"more was sold than there was, and the stock hides it", 1, 0, 2, 2, 1, 1, verdict.Oversold, 1},
		{"the stock went below zero", 1, -1, 2, 2, 0, 1, verdict.Oversold, 1},
		{"the stock fell without a sale", 200, 100, 50, 50, -50, 0, verdict.Undersold, 1},
		{"lost updates count even of one who was alone", 10, 10, 1, 1, 1, 0, verdict.Oversold, 1},
	} {
		tally := history.Tally{Run: history.Run{Initial: c.initial}, Remaining: c.remaining, Sold: c.sold, MaxInFlight: c.most}
		if tally.Lost() != c.lost || tally.Oversold() != c.oversold || tally.Verdict() != c.verdict || tally.Verdict().ExitCode() != c.exit {
			t.Errorf("%s: lost %d, oversold %d, %s, exit code %d; want %+v",
				c.what, tally.Lost(), tally.Oversold(), tally.Verdict(), tally.Verdict().ExitCode(), c)
		}
	}
}

// With several replicas, more sales may be in flight in all than in any one of them; then the sentence names the replica.
func TestMeansNamesReplica(t *testing.T) {
	tally := history.Tally{Run: history.Run{Initial: 200}, Remaining: 199, Sold: 1, InFlight: 17, MaxInFlight: 7}
	for in, want := range map[language.Language]string{
		language.English: "stock and orders agree, with at least 7 requests in flight at once in one replica",
		language.Chinese: "卖出 1 件，每一件都扣了库存；同一实例内至少有 7 个请求同时在处理",
	} {
		if got := tally.Report().Explanation().In(in); got != want {
			t.Errorf("%s; want %s", got, want)
		}
	}
}
