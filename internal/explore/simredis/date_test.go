package simredis

import (
	"testing"
	"time"
)

// Times are read, and written as what has passed, in whatever unit they are; what is no time of a schedule stays.
func TestTimesAreRelative(t *testing.T) {
	at := Date(1500 * time.Millisecond)
	for _, n := range []int64{at.UnixMilli(), at.UnixMicro(), at.UnixNano()} {
		if now, is := Since(float64(n)); !is || now.Round(time.Millisecond) != 1500*time.Millisecond {
			t.Errorf("%d is %v, %t; want 1.5s", n, now, is)
		}
	}
	for text, want := range map[string]string{
		"SET distributedLock 946684810000 nx":  "SET distributedLock 10000 nx", // ms
		"[946684801 250000]":                   "[1 250000]",                   // TIME's reply
		"946684785000":                         "-15000",                       // by a clock that is behind
		"A:946684800000000000:1":               "A:0:1",
		"12 10000 900000000 99999999999":       "12 10000 900000000 99999999999",
		"1700000000000 3f946684800":            "1700000000000 3f0",
		`{"at":"2000-01-01T00:00:25.000001Z"}`: `{"at":"25s"}`,
	} {
		if got := Relative(text); got != want {
			t.Errorf("%s is written %s; want %s", text, got, want)
		}
	}
	if _, is := Since(10_000); is {
		t.Error("10,000 counts as a time")
	}
}
