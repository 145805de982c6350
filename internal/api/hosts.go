package api

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Hosts holds the names of a server, in addition to loopback's names and addresses. A page of another site can make its own name resolve to
// this machine (DNS rebinding); its requests then look like those of the server's own page, except for the name in Host.
type Hosts struct {
	Names []string // host names or IP addresses, without a port
	AnyIP bool     // true: every IP address is allowed, because only names can be rebound
}

// isKnown reports whether a request's Host, with or without a port, is known.
func (h *Hosts) isKnown(host string) bool {
	if h == nil || host == "" { // Every browser sends Host.
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	name, ip := canonicalHost(host)
	switch {
	case name == "localhost", strings.HasSuffix(name, ".localhost"), ip.IsLoopback(), ip.IsValid() && h.AnyIP:
		return true
	}
	return slices.ContainsFunc(h.Names, func(known string) bool {
		text, _ := canonicalHost(known)
		return text == name
	})
}

// canonicalHost returns the canonical form of a name or an address, and the address if it is one.
func canonicalHost(host string) (string, netip.Addr) {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String(), ip.Unmap()
	}
	return strings.ToLower(strings.TrimSuffix(host, ".")), netip.Addr{}
}
