package evolution_test

import (
	"bytes"
	"os"
	"testing"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
)

// figures.json has the form in which bench writes it, and every figure that is shown.
func TestMeasuredFiguresAreComplete(t *testing.T) {
	f := evolution.Measured()
	var written bytes.Buffer
	if err := f.Write(&written); err != nil {
		t.Fatal(err)
	}
	if file, err := os.ReadFile("figures.json"); err != nil || !bytes.Equal(file, written.Bytes()) {
		t.Errorf("%v; figures.json is not as bench writes it: go run . -steps ../internal/evolution/figures.json, in bench", err)
	}
	if f.Date == "" || f.Machine == "" || f.Redis == "" || f.Repetitions == 0 || f.RoundTripMillis != 1 {
		t.Errorf("got %+v, want date, machine, Redis, repetitions and round trips of 1 ms", f)
	}
	for _, c := range f.Cells {
		if _, err := evolution.Find(c.Lock); err != nil {
			t.Error(err)
		}
		if c.Share <= 0 || c.Commands < 2 || (c.Wait == 0) != (c.Condition == evolution.Alone()) {
			t.Errorf("got %+v, want positive figures, and a wait unless there is one buyer", c)
		}
	}
	for _, lock := range []string{"v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "redlock"} {
		for _, at := range evolution.Points() {
			if f.Value(lock, at) == "" {
				t.Errorf("%s has no %+v", lock, at)
			}
		}
	}
}

func TestChangeDescribesBothFigures(t *testing.T) {
	crowd := evolution.Condition{Buyers: 200, Processes: 3}
	f := evolution.Figures{Cells: []evolution.Cell{
		{Lock: "v1", Condition: evolution.Alone(), Share: 0.496, Commands: 4},
		{Lock: "v2", Condition: evolution.Alone(), Share: 0.5, Commands: 4.04},
		{Lock: "v2", Condition: crowd, Share: 0.4, Commands: 50.96, Wait: 2.51},
	}}
	for _, c := range []struct {
		from, to string
		at       evolution.Point
		want     [2]string
	}{
		{
			from: "v1", to: "v2", at: evolution.Point{Metric: evolution.Share, Condition: evolution.Alone()},
			want: [2]string{"one buyer: 0.50 → 0.50 of the limit", "单个买家：吞吐量是上限的 0.50 → 0.50 倍"},
		},
		{
			from: "v0", to: "v1", at: evolution.Point{Metric: evolution.Commands, Condition: evolution.Alone()},
			want: [2]string{"one buyer: 4.0 commands a sale", "单个买家：每单 4.0 条命令"},
		},
		{
			from: "v1", to: "v2", at: evolution.Point{Metric: evolution.Wait, Condition: crowd},
			want: [2]string{"200 buyers in 3 processes: longest wait 2.5 times the mean", "3 个进程、200 个买家：最长等待是平均的 2.5 倍"},
		},
		{from: "v2", to: "v3", at: evolution.Point{Metric: evolution.Share, Condition: crowd}},
		{from: "v1", to: "v2", at: evolution.Point{Metric: evolution.Wait, Condition: evolution.Alone()}},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			for i, in := range language.All() {
				if got := f.Change(c.from, c.to, c.at, in); got != c.want[i] {
					t.Errorf("got %q, want %q", got, c.want[i])
				}
			}
		})
	}
}
