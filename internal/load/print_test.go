package load_test

import (
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/load"
	"lockstep/internal/service/history"
	"lockstep/internal/verdict"
)

// checkOrder fails unless a text says all of this, one after the other.
func checkOrder(t *testing.T, text string, all ...string) {
	t.Helper()
	rest := text
	for _, want := range all {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("%q does not come, or not in its place:\n%s", want, text)
		}
		rest = after
	}
}

// The ledger is compared with what the buyers were told.
func TestPrintComparesOrdersWithAnswers(t *testing.T) {
	for says, r := range map[string]load.Result{
		"100 in the ledger\n": {OK: 100, Unknown: 5},
		"100 in the ledger: of the 5 requests whose outcome is unknown, 3 were sold\n":                              {OK: 97, Unknown: 5},
		"100 in the ledger, but 90 buyers were told that they bought: others bought meanwhile\n":                    {OK: 90, Unknown: 5},
		"100 in the ledger, but 110 buyers were told that they bought: Redis lost the others, or a new run began\n": {OK: 110, Unknown: 5},
	} {
		var shown strings.Builder
		r.Sold, r.Unknowns = 100, map[string]int{"outcome_unknown": 3, "bad_gateway": 2}
		if err := r.Print(&shown, language.English); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(shown.String(), says) || !strings.Contains(shown.String(), "3 × outcome_unknown\n  unknown  2 × bad_gateway\n") {
			t.Errorf("%d answered, %d unknown: want %q in\n%s", r.OK, r.Unknown, says, shown.String())
		}
	}
}

// What cannot be known is not said, in either language.
func TestPrintOmitsWhatIsUnknown(t *testing.T) {
	report := history.Report{Verdict: verdict.Pass, Initial: 200, Sold: 200, MaxInFlight: 9}
	empty := load.Result{Report: report, Requests: 5000, OK: 4923, Answered: 1}
	empty.Judge(0.99)
	unread := load.Result{
		Report: history.Report{Verdict: verdict.Untested, Initial: 200}, Unread: "503",
		Requests: 200, OK: 200,
	}
	unread.Judge(0.99)
	few := load.Result{Report: history.Report{Verdict: verdict.Pass, Initial: 9, Sold: 9, MaxInFlight: 9}, Requests: 20, OK: 9, Answered: 0.45}
	few.Judge(0.99)
	for _, c := range []struct {
		result   load.Result
		in       language.Language
		has, not []string
	}{
		{empty, language.English, []string{"lost      not known", "UNKNOWN: 4723 buyers were told"}, []string{"nothing", "agree"}},
		{empty, language.Chinese, []string{"lost      未知", "UNKNOWN：4723 个买家被告知买到了"}, []string{"没有：", "每一件都扣了库存"}},
		{unread, language.English, []string{"200 sold", "lost      not known", "UNKNOWN: the ledger could not be read: 503"},
			[]string{"stock  ", "orders", "nothing"}},
		{unread, language.Chinese, []string{"卖出 200", "lost      未知", "UNKNOWN：读不到账本：503"}, []string{"stock  ", "orders", "没有"}},
		{few, language.Chinese, []string{"lost      没有", "UNKNOWN：20 个请求中，只有 9 个得到了"}, []string{"什么也没有验证"}},
	} {
		var shown strings.Builder
		if err := c.result.Print(&shown, c.in); err != nil {
			t.Fatal(err)
		}
		checkOrder(t, shown.String(), c.has...)
		for _, word := range c.not {
			if strings.Contains(shown.String(), word) {
				t.Errorf("nobody knows whether %q:\n%s", word, shown.String())
			}
		}
	}
}

// In Chinese every row is Chinese, but for its name, and says why a PASS is none.
func TestPrintInChineseHasNoEnglish(t *testing.T) {
	report := history.Report{
		Lock: "v0", Initial: 200, Remaining: 169, Sold: 200, Lost: 169, MaxInFlight: 200, Verdict: verdict.Oversold,
	}
	var shown strings.Builder
	result := load.Result{Report: report, Requests: 203, OK: 201, Unknown: 2}
	result.Judge(0)
	if err := result.Print(&shown, language.Chinese); err != nil {
		t.Fatal(err)
	}
	checkOrder(t, shown.String(), "requests  203 个", "售罄 0", "stock     开始时 200，剩下 169\n", "账本里有 200 个，但有 201 个买家", "lost      169 次扣减",
		"verdict   OVERSOLD：卖出 200 件，库存只减了 31 件：丢失了 169 次扣减，这些件还能再卖一次；但 1 个买家被告知买到了", "；但 203 个请求中有 2 个没有得到应有的响应\n")
	for _, english := range []string{" sold", "requests were"} {
		if strings.Contains(shown.String(), english) {
			t.Errorf("%q is English:\n%s", english, shown.String())
		}
	}
}
