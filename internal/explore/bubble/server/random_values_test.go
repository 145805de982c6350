package server

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const alnum = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// randomParts recognises random values in each usual alphabet, and takes no meaningful word for one.
func TestRandomPartsFindsRandomValuesOnly(t *testing.T) {
	draw := func(alphabet string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = alphabet[rand.IntN(len(alphabet))]
		}
		return string(b)
	}
	hex := alnum[52:] + "abcdef"
	missed, drawn := 0, 0
	for range 10_000 {
		uuid := draw(hex, 8) + "-" + draw(hex, 4) + "-4" + draw(hex, 3) + "-" + draw(hex, 4) + "-" + draw(hex, 12)
		for _, value := range []string{
			uuid, draw(hex, 16), draw(hex, 40), draw(alnum, 16), draw(alnum+"-_", 22), draw(alnum+"+/", 24) + "==",
			draw(alnum[26:52]+"234567", 26), "5" + draw(alnum[52:], 18),
		} {
			if parts := randomParts("distributedLock:" + value); !slices.Equal(parts, []string{value}) {
				missed++
			}
			drawn++
		}
	}
	if missed > drawn/10_000 {
		t.Errorf("%d of %d random values were not recognised; want at most one in 10,000", missed, drawn)
	}
	for _, word := range []string{
		"distributedLock", "worker-17", "1000", "orders:42", "946684800123", "946684800123456", "946684799000", "owner-of-the-lock", "A", "30000",
	} {
		if parts := randomParts(word); len(parts) > 0 {
			t.Errorf("randomParts(%q) = %q; want none", word, parts)
		}
	}
}

// Times become relative to now, in every unit; other numbers stay.
func TestAppendTimesIsRelativeToNow(t *testing.T) {
	const at = 1500 * time.Millisecond
	start := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) // start of a bubble's clock
	for _, text := range []string{"PEXPIREAT lock %d", "SET lock %d NX", "%d"} {
		for _, unit := range []time.Duration{time.Millisecond, time.Microsecond, time.Nanosecond} {
			relative := func(now time.Duration) string {
				return string(appendTimes(nil, fmt.Sprintf(text, start.Add(now+at).UnixNano()/int64(unit)), now))
			}
			if relative(0) != relative(time.Hour) || relative(0) == fmt.Sprintf(text, start.Add(at).UnixNano()/int64(unit)) {
				t.Errorf("%s: got %s, and an hour later %s; want the same, relative text", text, relative(0), relative(time.Hour))
			}
		}
	}
	if relative := string(appendTimes(nil, "EVAL 1000 22 lock", time.Hour)); relative != "EVAL 1000 22 lock" {
		t.Errorf("got %q for numbers that are no times; want them unchanged", relative)
	}
}
