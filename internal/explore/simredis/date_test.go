package simredis

import (
	"testing"
	"time"
)

// Times near the virtual start are replaced by the time since it, in their own unit; other numbers stay.
func TestRelativeTimesReplacesDates(t *testing.T) {
	at := VirtualTime(1500 * time.Millisecond)
	for unit, n := range map[time.Duration]int64{
		time.Millisecond: at.UnixMilli(), time.Microsecond: at.UnixMicro(), time.Nanosecond: at.UnixNano(),
	} {
		if passed, gotUnit, ok := SinceStart(n); !ok || gotUnit != unit || passed != at.Truncate(unit).Sub(VirtualTime(0).Truncate(time.Second)) {
			t.Errorf("SinceStart(%d) = %v, %v, %t; want 1.5s, %v, true", n, passed, gotUnit, ok, unit)
		}
	}
	for text, want := range map[string]string{
		"SET distributedLock 946684810000 nx":  "SET distributedLock 10000 nx", // ms
		"[946684801 250000]":                   "[1 250000]",                   // TIME's reply
		"946684785000":                         "-15000",                       // 15 s before the start
		"A:946684800000000000:1":               "A:0:1",
		"12 10000 900000000 99999999999":       "12 10000 900000000 99999999999",
		"1700000000000 3f946684800":            "1700000000000 3f0",
		`{"at":"2000-01-01T00:00:25.000001Z"}`: `{"at":"25s"}`,
	} {
		if got := RelativeTimes(text); got != want {
			t.Errorf("RelativeTimes(%s) = %s; want %s", text, got, want)
		}
	}
	if _, _, ok := SinceStart(10_000); ok {
		t.Error("SinceStart(10000) is a time; want that it is none")
	}
}
