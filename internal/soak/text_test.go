package soak

import (
	"strings"
	"testing"
)

func TestThousandsGroupsDigits(t *testing.T) {
	for n, want := range map[int]string{
		0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 123456: "123,456", 1234567: "1,234,567",
	} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestTextSaysAsPredictedForAllowedLosses(t *testing.T) {
	record := newValidRecord()
	record.Lock, record.Snapshots[1] = "v4", snapshot("A", 11.9, 1190, 1187)
	result := Examine(record)
	want := "\nAS PREDICTED: updates lost: 3, only through faults that v4 does not tolerate\n"
	if code := result.Verdict.ExitCode(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if text := result.Text(); !strings.Contains(text, want) || strings.Contains(text, "PASS") {
		t.Errorf("got text\n%s\nwant %q, and not PASS", text, want)
	}
}

func TestTextListsFaultsAndRules(t *testing.T) {
	record := newValidRecord()
	record.removeSales(12, 15.1)
	record.Sales = append(record.Sales, Sale{Start: atSecond(12), End: atSecond(13), Status: 503, Code: "redis_unavailable", OrderID: "x"})
	text := Examine(record).Text()
	for _, want := range []string{
		"Soak test of v9: 20s under real faults\n",
		"  1,690         sales           84 a second",
		"\nempty-redis   1      1          0             2.4 s\n",
		"✓ a sale answered 200 has exactly one order: 1,690 checked\n",
		"✗ sales resumed within 2s after each fault, at a quarter of the usual rate or more: 2 checked, 1 broken\n",
		"\n    BROKEN: empty-redis at 11.99s: almost no sales for 2.2s; until the next fault: 1 redis_unavailable\n",
		"\nFAIL: sales resumed within 2s after each fault, at a quarter of the usual rate or more: broken once\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("got text\n%s\nwant %q in it", text, want)
		}
	}
}
