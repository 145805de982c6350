package api

import (
	"net/http"
	"testing"
)

// A client is identified by the address that the server or its front sees, never by what the client says about itself.
func TestClientIsAddressSeenByServer(t *testing.T) {
	for _, c := range []struct {
		name              string
		remote, forwarded string
		behindFront       bool
		want              string
	}{
		{"IPv4", "10.0.0.7:5123", "", false, "10.0.0.7"},
		{"header without a front", "10.0.0.7:5123", "10.0.0.8", false, "10.0.0.7"},
		{"behind a front", "127.0.0.1:5123", "10.0.0.8", true, "10.0.0.8"},
		{"behind a front, no header", "127.0.0.1:5123", "", true, "127.0.0.1"},
		{"IPv4 in IPv6", "[::ffff:10.0.0.7]:5123", "", false, "10.0.0.7"},
		{"IPv6", "[2001:db8:1:2:3:4:5:6]:5123", "", false, "2001:db8:1:2::"},
		{"IPv6, same network", "[2001:db8:1:2:ffff::1]:5123", "", false, "2001:db8:1:2::"},
		{"link-local", "[fe80::1%eth0]:5123", "", false, "fe80::1%eth0"},
		{"no address", "pipe", "", false, "pipe"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &http.Request{RemoteAddr: c.remote, Header: http.Header{}}
			if c.forwarded != "" {
				r.Header.Set("X-Forwarded-For", c.forwarded)
			}
			if got := ClientAddress(r, c.behindFront); got != c.want {
				t.Errorf("got %s; want %s", got, c.want)
			}
		})
	}
}
