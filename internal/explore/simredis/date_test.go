package simredis

import (
	"testing"
	"time"
)

// Times are read, and written as what has passed, in whatever unit they are; what is no time of a schedule stays.
func TestTimesAreRelative(t *testing.T) {
	at := VirtualTime(1500 * time.Millisecond)
	for unit, n := range map[time.Duration]int64{
		time.Millisecond: at.UnixMilli(), time.Microsecond: at.UnixMicro(), time.Nanosecond: at.UnixNano(),
	} {
		if now, in, is := SinceStart(n); !is || in != unit || now != at.Truncate(unit).Sub(VirtualTime(0).Truncate(time.Second)) {
			t.Errorf("%d is %v, in %v, %t; want 1.5s, in %v", n, now, in, is, unit)
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
		if got := RelativeTimes(text); got != want {
			t.Errorf("%s is written %s; want %s", text, got, want)
		}
	}
	if _, _, is := SinceStart(10_000); is {
		t.Error("10,000 counts as a time")
	}
}
