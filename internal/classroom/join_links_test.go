package classroom

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func TestReachableOrigins(t *testing.T) {
	machine := []netip.Addr{netip.MustParseAddr("192.168.0.7"), netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("2001:db8::7")}
	for _, c := range []struct{ from, listens, want string }{
		{"http://192.168.0.7:8080", "127.0.0.1:8080", "http://192.168.0.7:8080"}, // the server may be behind a proxy
		{"https://class.example.com", "0.0.0.0:8080", "https://class.example.com"},
		{"http://localhost:8080", "[::]:8080", "http://192.168.0.7:8080 http://10.0.0.2:8080 http://[2001:db8::7]:8080"},
		{"http://lockstep.localhost:9090", "0.0.0.0:8080", "http://192.168.0.7:8080 http://10.0.0.2:8080 http://[2001:db8::7]:8080"},
		{"http://127.0.0.1:8080", "10.0.0.2:8080", "http://10.0.0.2:8080"},
		{"http://[::1]:8080", "127.0.0.1:8080", ""},
		{"http://localhost:8080", "[::1]:8080", ""},
	} {
		from, err := url.Parse(c.from)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(reachableOrigins(from, netip.MustParseAddrPort(c.listens), machine), " "); got != c.want {
			t.Errorf("origins for %s, server at %s: got %q, want %q", c.from, c.listens, got, c.want)
		}
	}
}

// The path draws the three finder patterns, and nothing outside the square.
func TestQRCodePathDrawsFinderPatterns(t *testing.T) {
	link, err := newJoinLink("http://192.168.0.7:8080/join")
	if err != nil {
		t.Fatal(err)
	}
	dark := map[[2]int]bool{}
	for _, run := range strings.Split(strings.TrimSuffix(link.Path, "z"), "z") {
		numbers := strings.FieldsFunc(run, func(r rune) bool { return strings.ContainsRune("M hv-", r) })
		var n []int
		for _, number := range numbers {
			i, err := strconv.Atoi(number)
			if err != nil {
				t.Fatal(run, err)
			}
			n = append(n, i)
		}
		if len(n) != 5 || n[2] != n[4] || n[0]+n[2] > link.Size || n[1] >= link.Size {
			t.Fatalf("%q in a square of %d", run, link.Size)
		}
		for x := range n[2] {
			dark[[2]int{n[0] + x, n[1]}] = true
		}
	}
	for _, corner := range [][2]int{{0, 0}, {link.Size - 7, 0}, {0, link.Size - 7}} {
		for i := range 7 {
			for j := range 7 {
				ring := max(i-3, 3-i, j-3, 3-j)
				if at := [2]int{corner[0] + i, corner[1] + j}; dark[at] != (ring != 2) {
					t.Errorf("%v is dark: %t", at, dark[at])
				}
			}
		}
	}
}
