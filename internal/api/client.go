package api

import (
	"net"
	"net/http"
	"net/netip"
)

// ClientAddress identifies the client of a request by its address, for limits per client. Behind a cluster's reverse proxy, it is the
// address in the proxy's X-Forwarded-For. Other proxies are not trusted: all clients behind one count as one client.
func ClientAddress(r *http.Request, behindFront bool) string {
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
		network, _ := address.WithZone("").Prefix(64) // One machine can use every address of its /64 network.
		return network.Addr().String()
	}
	return address.String()
}
