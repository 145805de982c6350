package worker

import (
	"errors"
	"reflect"
	"testing"
	"time"
)

// atMillis returns the time that many milliseconds after the start of a window, which ends at 100.
func atMillis(ms int) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond)
}

func newPurchase(asked, entered, ended int) purchase {
	return purchase{requested: atMillis(asked), obtained: atMillis(entered), ended: atMillis(ended), sold: true}
}

// newAbandoned returns a purchase whose buyer stopped waiting.
func newAbandoned(asked, ended int) purchase {
	return purchase{requested: atMillis(asked), ended: atMillis(ended)}
}

func TestNewReportCountsWindow(t *testing.T) {
	for _, test := range []struct {
		name  string
		turns []purchase
		want  Report // waits in milliseconds
	}{
		{name: "no purchases", want: Report{Silence: 100}},
		{
			name: "within", turns: []purchase{newPurchase(0, 10, 20), newPurchase(20, 50, 60)},
			want: Report{Sold: 2, SalesInWindow: 2, Waits: []int64{10, 30}, Silence: 40},
		},
		{
			name: "a wait from the warm-up counts in full", turns: []purchase{newPurchase(-50, 10, 20)},
			want: Report{Sold: 1, SalesInWindow: 1, Waits: []int64{60}, Silence: 80},
		},
		{
			name: "a wait that ended in the warm-up does not count", turns: []purchase{newPurchase(-50, -10, 5)},
			want: Report{Sold: 1, SalesInWindow: 1, Silence: 95},
		},
		{
			name: "a sale that ended after the window is not in it", turns: []purchase{newPurchase(20, 90, 110)},
			want: Report{Sold: 1, Waits: []int64{70}, Silence: 100},
		},
		{
			name: "a buyer never served has waited until the end", turns: []purchase{newAbandoned(-30, 101)},
			want: Report{Waits: []int64{130}, NeverServed: 1, LongestPending: 130, Silence: 100},
		},
		{
			name: "a buyer served after the end was never served", turns: []purchase{newPurchase(40, 103, 110)},
			want: Report{Sold: 1, Waits: []int64{60}, NeverServed: 1, LongestPending: 60, Silence: 100},
		},
		{
			name: "a pending wait of a buyer served before may be the longest", turns: []purchase{newPurchase(0, 5, 10), newAbandoned(10, 101)},
			want: Report{Sold: 1, SalesInWindow: 1, Waits: []int64{5}, LongestPending: 90, Silence: 90},
		},
		{
			name: "a buyer that stopped waiting has waited until then", turns: []purchase{newAbandoned(-10, 40)},
			want: Report{Waits: []int64{50}, NeverServed: 1, LongestPending: 50, Silence: 100},
		},
		{name: "a buyer that begins after the end does not count", turns: []purchase{newAbandoned(100, 101)}, want: Report{Silence: 100}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := newReport([]buyer{{purchases: test.turns}}, Window{Begin: atMillis(0), End: atMillis(100)})
			want := test.want
			for i := range want.Waits {
				want.Waits[i] *= 1000
			}
			want.LongestPending, want.Silence = want.LongestPending*1000, want.Silence*1000
			if want.Waits == nil {
				want.Waits = []int64{}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s:\n%+v; want\n%+v", test.name, got, want)
			}
		})
	}
}

func TestNewReportCombinesBuyers(t *testing.T) {
	got := newReport([]buyer{
		{purchases: []purchase{newPurchase(0, 10, 20)}},
		{purchases: []purchase{newAbandoned(0, 101)}},
		{purchases: []purchase{newPurchase(0, 1, 2)}, errs: []error{errors.New("first"), errors.New("second")}},
	}, Window{Begin: atMillis(0), End: atMillis(100)})
	if got.Sold != 2 || got.NeverServed != 1 || len(got.Waits) != 3 || got.Silence != 80_000 || got.Errors != 2 || got.FirstError != "first" {
		t.Errorf("got %+v, want 2 sold, 1 never served, 3 waits, a silence of 80 ms, and 2 errors", got)
	}
}
