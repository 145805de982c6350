package report

import "testing"

// truncateLines shortens only the lines that are wider than the screen; a width of 0 means no limit.
func TestTruncateLines(t *testing.T) {
	if got := truncateLines(5, "┃ 123456\n┃ 12\n"); got != "┃ 12…\n┃ 12\n" {
		t.Errorf("%q", got)
	}
	if got := truncateLines(0, "┃ 123456\n"); got != "┃ 123456\n" {
		t.Errorf("%q", got)
	}
}
