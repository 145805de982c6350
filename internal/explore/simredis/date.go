package simredis

import (
	"regexp"
	"strconv"
	"time"
)

// VirtualTime returns the time on the virtual clocks when the virtual time now has passed since the start. The start is in 2000, as in a
// testing/synctest bubble, so that a token made from a time is never 0, which means none. It is a microsecond after the full second, so
// that the first token of v7, which is in microseconds, reads as 1.
func VirtualTime(now time.Duration) time.Time { return time.Unix(startSeconds, 1000).UTC().Add(now) }

const (
	startSeconds = 946_684_800              // Unix time of 2000-01-01, in seconds
	earliest     = -1000 * time.Hour        // start of the range of numbers that are read as times, relative to the virtual start
	latest       = 2 * 366 * 24 * time.Hour // end of that range: expiries may be far in the future
)

// SinceStart interprets a number as a Unix time, and returns the time since the virtual start and the unit of the number; ok is false if
// it is not a time near the start.
func SinceStart(number int64) (passed, unit time.Duration, ok bool) {
	for _, unit = range [...]time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond} {
		start := startSeconds * int64(time.Second/unit)
		if after := number - start; int64(earliest/unit) <= after && after <= int64(latest/unit) {
			return time.Duration(after) * unit, unit, true
		}
	}
	return 0, 0, false
}

// timePattern matches a Unix time in any unit, and a time in RFC 3339.
var timePattern = regexp.MustCompile(`\d{9,19}|\d{4}-\d\d-\d\dT[\d:.]+Z`)

// RelativeTimes replaces each time in a text by the time since the virtual start; a number stays in its unit.
func RelativeTimes(text string) string {
	return timePattern.ReplaceAllStringFunc(text, func(number string) string {
		if date, err := time.Parse(time.RFC3339Nano, number); err == nil {
			return date.Sub(time.Unix(startSeconds, 0)).Truncate(time.Millisecond).String()
		}
		n, err := strconv.ParseInt(number, 10, 64)
		passed, unit, ok := SinceStart(n)
		if err != nil || !ok {
			return number
		}
		return strconv.FormatInt(int64(passed/unit), 10)
	})
}
