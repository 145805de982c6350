package simredis

import "testing"

// FormatReply formats one reply as redis-cli does; of several, the first error, or OK.
func TestFormatReply(t *testing.T) {
	for _, test := range []struct {
		raw      string
		commands int
		want     string
	}{
		{raw: "+OK\r\n", commands: 1, want: "OK"},
		{raw: ":3\r\n", commands: 1, want: "3"},
		{raw: "$1\r\nA\r\n", commands: 1, want: "A"},
		{raw: "$-1\r\n", commands: 1, want: "nil"},
		{raw: "*2\r\n+OK\r\n:1\r\n", commands: 1, want: "[OK 1]"}, // reply to EXEC
		{raw: "-NOSCRIPT none\r\n", commands: 1, want: "error NOSCRIPT none"},
		{raw: ":1\r\n-ERR no\r\n", commands: 2, want: "error ERR no"},
		{raw: ":1\r\n:2\r\n", commands: 2, want: "OK"},
	} {
		if got := FormatReply([]byte(test.raw), test.commands); got != test.want {
			t.Errorf("FormatReply(%q, %d) = %s; want %s", test.raw, test.commands, got, test.want)
		}
	}
}
