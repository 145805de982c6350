package api

import (
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Hosts are the names of a server, in addition to loopback's names and addresses. A page of another site can make its own name resolve to
// this machine (DNS rebinding); its requests then look like those of the server's own page, except for the name in Host.
type Hosts struct {
	Names []string // names or addresses, without a port
	AnyIP bool     // every address is known, too: only names can be rebound
}

// know reports whether a request's Host, with or without a port, is known.
func (h *Hosts) know(host string) bool {
	if h == nil || host == "" { // every browser sends one
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	name, ip := plain(host)
	switch {
	case name == "localhost", strings.HasSuffix(name, ".localhost"), ip.IsLoopback(), ip.IsValid() && h.AnyIP:
		return true
	}
	return slices.ContainsFunc(h.Names, func(known string) bool {
		text, _ := plain(known)
		return text == name
	})
}

// plain returns the canonical form of a name or an address, and the address if it is one.
func plain(host string) (string, netip.Addr) {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String(), ip.Unmap()
	}
	return strings.ToLower(strings.TrimSuffix(host, ".")), netip.Addr{}
}
