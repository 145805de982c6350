package api

import (
	"net"
	"net/http"
	"net/netip"
)

// Client names whose request it is, by the address from which it comes: what a client may have at once is bounded. Behind a cluster's front
// that is the address that the front has seen. No other word for it is believed: behind another proxy, all are one client.
func Client(r *http.Request, behindFront bool) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	if seen := r.Header.Get("X-Forwarded-For"); behindFront && seen != "" {
		host = seen
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if address = address.Unmap(); address.Is6() && !address.IsLinkLocalUnicast() {
		network, _ := address.WithZone("").Prefix(64) // one machine has as many addresses in it as it likes
		return network.Addr().String()
	}
	return address.String()
}
