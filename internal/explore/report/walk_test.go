package report

import "testing"

// On a screen a line is never longer than that.
func TestLinesAreCut(t *testing.T) {
	if got := truncateLines(5, "┃ 123456\n┃ 12\n"); got != "┃ 12…\n┃ 12\n" {
		t.Errorf("%q", got)
	}
	if got := truncateLines(0, "┃ 123456\n"); got != "┃ 123456\n" {
		t.Errorf("%q", got)
	}
}
