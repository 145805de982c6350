package simredis

import (
	"regexp"
	"strconv"
	"time"
)

// Date returns the virtual time at which a server, or a process, is after so long. It begins in 2000, as in a bubble of testing/synctest: a
// token made of a time is never 0, which means none. It does so a microsecond later, so that the first token of v7, in microseconds, is
// written as 1.
func VirtualTime(now time.Duration) time.Time { return time.Unix(startSeconds, 1000).UTC().Add(now) }

const (
	startSeconds = 946_684_800 // seconds since 1970
	earliest     = -1000 * time.Hour
	latest       = 2 * 366 * 24 * time.Hour // an expiry may be far away
)

// Since returns how long after the beginning the time is that a number may be, and the unit that the number is in; false if it is none.
func SinceStart(number int64) (passed, unit time.Duration, is bool) {
	for _, unit = range [...]time.Duration{time.Second, time.Millisecond, time.Microsecond, time.Nanosecond} {
		start := startSeconds * int64(time.Second/unit)
		if after := number - start; int64(earliest/unit) <= after && after <= int64(latest/unit) {
			return time.Duration(after) * unit, unit, true
		}
	}
	return 0, 0, false
}

var timePattern = regexp.MustCompile(`\d{9,19}|\d{4}-\d\d-\d\dT[\d:.]+Z`)

// Relative writes each time in a text as what has passed since the beginning, a number in the unit that it is in.
func RelativeTimes(text string) string {
	return timePattern.ReplaceAllStringFunc(text, func(number string) string {
		if date, err := time.Parse(time.RFC3339Nano, number); err == nil {
			return date.Sub(time.Unix(startSeconds, 0)).Truncate(time.Millisecond).String()
		}
		n, err := strconv.ParseInt(number, 10, 64)
		passed, unit, is := SinceStart(n)
		if err != nil || !is {
			return number
		}
		return strconv.FormatInt(int64(passed/unit), 10)
	})
}
