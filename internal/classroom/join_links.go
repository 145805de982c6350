package classroom

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	qr "github.com/piglig/go-qr"
)

// joinPath is the path that participants open. It is short, because they type it.
const joinPath = "/join"

// maxJoinLinks is the largest number of links that the page shows: a machine may have many addresses, and three QR codes fit on a screen.
const maxJoinLinks = 3

// JoinLink is a URL at which participants join, and its QR code.
type JoinLink struct {
	URL  string `json:"url"`
	Size int    `json:"size"` // width and height of the QR code in modules
	Path string `json:"path"` // SVG path of the dark modules
}

// redirectToJoin handles GET /join: it redirects to the view of the page for participants.
func redirectToJoin(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, "/#/join", http.StatusFound)
	return nil
}

// joinLinks handles GET /room/join: it returns the links for participants. The query parameter "from" is the origin of the page that the
// teacher has open. The list is empty if other machines cannot reach this server.
func (c *Classroom) joinLinks(r *http.Request) (any, error) {
	from, err := url.Parse(r.FormValue("from"))
	if err != nil || from.Scheme != "http" && from.Scheme != "https" || from.Host == "" || len(from.Host) > 255 {
		return nil, fmt.Errorf("%w: from: want the origin of the page, such as http://192.168.0.7:8080", errBadRequest)
	}
	links := []JoinLink{}
	for _, origin := range reachableOrigins(from, c.listenAddress(), machineAddresses()) {
		link, err := newJoinLink(origin + joinPath)
		if err != nil {
			return nil, fmt.Errorf("%w: from: %w", errBadRequest, err)
		}
		links = append(links, link)
	}
	return struct {
		Links []JoinLink `json:"doors"`
	}{links}, nil
}

// reachableOrigins returns the origins by which other machines reach the server. It returns from, unless that is a loopback origin. Then it
// returns the origins of the machine's addresses at which the server listens, at most maxJoinLinks.
func reachableOrigins(from *url.URL, listenAddress netip.AddrPort, machineAddresses []netip.Addr) (all []string) {
	name := from.Hostname()
	host, err := netip.ParseAddr(name)
	isLoopback := name == "localhost" || strings.HasSuffix(name, ".localhost") || err == nil && host.IsLoopback()
	if !isLoopback {
		return []string{from.Scheme + "://" + from.Host}
	}
	for _, addr := range machineAddresses {
		if listening := listenAddress.Addr(); listening.IsUnspecified() || listening == addr {
			host := net.JoinHostPort(addr.String(), strconv.Itoa(int(listenAddress.Port())))
			all = append(all, "http://"+host)
		}
	}
	return all[:min(len(all), maxJoinLinks)]
}

// listenAddress returns the TCP address at which the server listens; the zero AddrPort if it is unknown.
func (c *Classroom) listenAddress() netip.AddrPort {
	if tcp, ok := c.Addr.(*net.TCPAddr); ok {
		at := tcp.AddrPort()
		return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	}
	return netip.AddrPort{}
}

// machineAddresses returns the global unicast addresses of this machine. IPv4 addresses come first, because they are easier to type.
func machineAddresses() (all []netip.Addr) {
	addresses, _ := net.InterfaceAddrs() // Without addresses there are no links.
	var ipv6 []netip.Addr
	for _, address := range addresses {
		prefix, err := netip.ParsePrefix(address.String())
		switch addr := prefix.Addr(); {
		case err != nil || !addr.IsGlobalUnicast():
		case addr.Is4():
			all = append(all, addr)
		default:
			ipv6 = append(ipv6, addr)
		}
	}
	return append(all, ipv6...)
}

// newJoinLink draws the QR code of a URL. Each run of dark modules in a row becomes one rectangle of the path.
func newJoinLink(address string) (JoinLink, error) {
	code, err := qr.EncodeText(address, qr.Medium)
	if err != nil {
		return JoinLink{}, err
	}
	var path strings.Builder
	for y := range code.Size() {
		for x := 0; x < code.Size(); x++ {
			run := 0
			for code.Module(x+run, y) {
				run++
			}
			if run > 0 {
				fmt.Fprintf(&path, "M%d %dh%dv1h-%dz", x, y, run, run)
				x += run
			}
		}
	}
	return JoinLink{address, code.Size(), path.String()}, nil
}
