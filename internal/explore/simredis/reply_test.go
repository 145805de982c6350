package simredis

import "testing"

// A reply is written as a person reads it; of several, the first error, or that all went well.
func TestRepliesAreReadable(t *testing.T) {
	for _, test := range []struct {
		raw      string
		commands int
		want     string
	}{
		{"+OK\r\n", 1, "OK"},
		{":3\r\n", 1, "3"},
		{"$1\r\nA\r\n", 1, "A"},
		{"$-1\r\n", 1, "nil"},
		{"*2\r\n+OK\r\n:1\r\n", 1, "[OK 1]"}, // of EXEC
		{"-NOSCRIPT none\r\n", 1, "error NOSCRIPT none"},
		{":1\r\n-ERR no\r\n", 2, "error ERR no"},
		{":1\r\n:2\r\n", 2, "OK"},
	} {
		if got := FormatReply([]byte(test.raw), test.commands); got != test.want {
			t.Errorf("%q is written %s; want %s", test.raw, got, test.want)
		}
	}
}
