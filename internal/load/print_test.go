package load_test

import (
	"strings"
	"testing"

	"lockstep/internal/language"
	"lockstep/internal/load"
	"lockstep/internal/service/history"
	"lockstep/internal/verdict"
)

// checkOrder fails unless text contains wants, one after the other.
func checkOrder(t *testing.T, text string, wants ...string) {
	t.Helper()
	rest := text
	for _, want := range wants {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("got\n%s\nwant %q in its place", text, want)
		}
		rest = after
	}
}

func TestPrintComparesOrdersWithAnswers(t *testing.T) {
	for want, result := range map[string]load.Result{
		"100 in the ledger\n": {OK: 100, Unknown: 5},
		"100 in the ledger: of the 5 requests whose outcome is unknown, 3 were sold\n":                     {OK: 97, Unknown: 5},
		"100 in the ledger, but only 90 were confirmed to these buyers: others bought at the same time\n":  {OK: 90, Unknown: 5},
		"100 in the ledger, but 110 were confirmed to buyers: Redis lost the others, or a new run began\n": {OK: 110, Unknown: 5},
	} {
		t.Run(want, func(t *testing.T) {
			var output strings.Builder
			result.Sold, result.Unknowns = 100, map[string]int{"outcome_unknown": 3, "bad_gateway": 2}
			if err := result.Print(&output, language.English); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(output.String(), want) || !strings.Contains(output.String(), "3 × outcome_unknown\n  unknown  2 × bad_gateway\n") {
				t.Errorf("got\n%s\nwant %q in it", output.String(), want)
			}
		})
	}
}

func TestPrintOmitsWhatIsUnknown(t *testing.T) {
	report := history.Report{Verdict: verdict.Pass, Initial: 200, Sold: 200, MaxInFlight: 9}
	incomplete := load.Result{Report: report, Requests: 5000, OK: 4923, Answered: 1}
	incomplete.Judge(0.99)
	unread := load.Result{
		Report: history.Report{Verdict: verdict.Untested, Initial: 200}, Unread: "503",
		Requests: 200, OK: 200,
	}
	unread.Judge(0.99)
	few := load.Result{Report: history.Report{Verdict: verdict.Pass, Initial: 9, Sold: 9, MaxInFlight: 9}, Requests: 20, OK: 9, Answered: 0.45}
	few.Judge(0.99)
	for _, test := range []struct {
		result         load.Result
		in             language.Language
		want, unwanted []string
	}{
		{
			result: incomplete, in: language.English, want: []string{"lost      unknown", "UNKNOWN: 4723 orders that were confirmed"},
			unwanted: []string{"none", "agree"},
		},
		{
			result: incomplete, in: language.Chinese, want: []string{"丢失  未知", "UNKNOWN：买家收到了 4723 个订单的确认"},
			unwanted: []string{"没有：", "每一件都扣了库存"},
		},
		{
			result: unread, in: language.English, want: []string{"200 sold", "lost      unknown", "UNKNOWN: the ledger could not be read: 503"},
			unwanted: []string{"stock  ", "orders  ", "none"},
		},
		{
			result: unread, in: language.Chinese, want: []string{"卖出 200", "丢失  未知", "UNKNOWN：读不到账本：503"},
			unwanted: []string{"库存  ", "订单  ", "没有"},
		},
		{
			result: few, in: language.Chinese, want: []string{"丢失  没有", "UNKNOWN：20 个请求中，只有 9 个得到了"},
			unwanted: []string{"什么也没有验证"},
		},
	} {
		var output strings.Builder
		if err := test.result.Print(&output, test.in); err != nil {
			t.Fatal(err)
		}
		checkOrder(t, output.String(), test.want...)
		for _, word := range test.unwanted {
			if strings.Contains(output.String(), word) {
				t.Errorf("got\n%s\nwant no %q, which is not known", output.String(), word)
			}
		}
	}
}

func TestPrintInChineseHasNoEnglish(t *testing.T) {
	report := history.Report{
		Lock: "v0", Initial: 200, Remaining: 169, Sold: 200, Lost: 169, MaxInFlight: 200, Verdict: verdict.Oversold,
	}
	var output strings.Builder
	result := load.Result{Report: report, Requests: 203, OK: 201, Unknown: 2}
	result.Judge(0)
	if err := result.Print(&output, language.Chinese); err != nil {
		t.Fatal(err)
	}
	checkOrder(t, output.String(), "锁    v0\n请求  203 个", "售罄 0", "库存  开始时 200，剩下 169\n", "订单  账本里有 200 个，但买家收到了 201 个订单的确认",
		"丢失  169 次扣减",
		"判定  OVERSOLD：卖出 200 件，库存只减了 31 件：丢失了 169 次扣减，这些库存会被重复售出；但买家收到了 1 个订单的确认", "；但 203 个请求中有 2 个失败或结果未知\n")
	for _, english := range []string{" sold", "requests were"} {
		if strings.Contains(output.String(), english) {
			t.Errorf("got\n%s\nwant no English words such as %q", output.String(), english)
		}
	}
}
