package worker

import (
	"errors"
	"reflect"
	"testing"
	"time"
)

// at is a time in milliseconds after the beginning of a window that ends at 100.
func at(ms int) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(ms) * time.Millisecond)
}

func sale(asked, entered, ended int) purchase {
	return purchase{requested: at(asked), obtained: at(entered), ended: at(ended), sold: true}
}

// gaveUp is a turn that never came.
func gaveUp(asked, ended int) purchase { return purchase{requested: at(asked), ended: at(ended)} }

func TestNewReportCountsWindow(t *testing.T) {
	for _, test := range []struct {
		name  string
		turns []purchase
		want  Report // waits in milliseconds
	}{
		{"nothing at all", nil, Report{Silence: 100}},
		{"within", []purchase{sale(0, 10, 20), sale(20, 50, 60)}, Report{Sold: 2, SalesInWindow: 2, Waits: []int64{10, 30}, Silence: 40}},
		{"a wait that began in the warm-up counts whole", []purchase{sale(-50, 10, 20)},
			Report{Sold: 1, SalesInWindow: 1, Waits: []int64{60}, Silence: 80}},
		{"a wait that ended in the warm-up does not", []purchase{sale(-50, -10, 5)}, Report{Sold: 1, SalesInWindow: 1, Silence: 95}},
		{"what ended after the window was sold, but not in it", []purchase{sale(20, 90, 110)},
			Report{Sold: 1, Waits: []int64{70}, Silence: 100}},
		{"who never got in has waited until the end", []purchase{gaveUp(-30, 101)},
			Report{Waits: []int64{130}, NeverServed: 1, LongestPending: 130, Silence: 100}},
		{"who gets in after the end never got in", []purchase{sale(40, 103, 110)},
			Report{Sold: 1, Waits: []int64{60}, NeverServed: 1, LongestPending: 60, Silence: 100}},
		{"who got in once does not count for the wait still on, but it may be the longest", []purchase{sale(0, 5, 10), gaveUp(10, 101)},
			Report{Sold: 1, SalesInWindow: 1, Waits: []int64{5}, LongestPending: 90, Silence: 90}},
		{"who gave up before the end has waited until then", []purchase{gaveUp(-10, 40)},
			Report{Waits: []int64{50}, NeverServed: 1, LongestPending: 50, Silence: 100}},
		{"who asks after the end does not count", []purchase{gaveUp(100, 101)}, Report{Silence: 100}},
	} {
		got := newReport([]buyer{{purchases: test.turns}}, Window{Begin: at(0), End: at(100)})
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
	}
}

func TestNewReportCombinesBuyers(t *testing.T) {
	got := newReport([]buyer{
		{purchases: []purchase{sale(0, 10, 20)}},
		{purchases: []purchase{gaveUp(0, 101)}},
		{purchases: []purchase{sale(0, 1, 2)}, errs: []error{errors.New("first"), errors.New("second")}},
	}, Window{Begin: at(0), End: at(100)})
	if got.Sold != 2 || got.NeverServed != 1 || len(got.Waits) != 3 || got.Silence != 80_000 || got.Errors != 2 || got.FirstError != "first" {
		t.Errorf("%+v", got)
	}
}
