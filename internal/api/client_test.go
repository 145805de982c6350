package api

import (
	"net/http"
	"testing"
)

// A client is identified by the address that the server or its front sees, never by what the client says about itself.
func TestClientIsAddressSeenByServer(t *testing.T) {
	for _, c := range []struct {
		remote, forwarded string
		behindFront       bool
		want              string
	}{
		{"10.0.0.7:5123", "", false, "10.0.0.7"},
		{"10.0.0.7:5123", "10.0.0.8", false, "10.0.0.7"},
		{"127.0.0.1:5123", "10.0.0.8", true, "10.0.0.8"},
		{"127.0.0.1:5123", "", true, "127.0.0.1"},
		{"[::ffff:10.0.0.7]:5123", "", false, "10.0.0.7"},
		{"[2001:db8:1:2:3:4:5:6]:5123", "", false, "2001:db8:1:2::"},
		{"[2001:db8:1:2:ffff::1]:5123", "", false, "2001:db8:1:2::"},
		{"[fe80::1%eth0]:5123", "", false, "fe80::1%eth0"},
		{"pipe", "", false, "pipe"},
	} {
		r := &http.Request{RemoteAddr: c.remote, Header: http.Header{}}
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := Client(r, c.behindFront); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}
