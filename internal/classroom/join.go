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

// joinPath is short, as people type it.
const joinPath = "/join"

// mostDoors is how many addresses a room shows.
const mostDoors = 3

// Door is an address at which participants come in, and its QR code: the dark squares of a square of Size by Size, as the path of an SVG.
type Door struct {
	URL  string `json:"url"`
	Size int    `json:"size"`
	Path string `json:"path"`
}

// join sends whoever comes to the page, where participants are.
func join(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, "/#/join", http.StatusFound)
	return nil
}

// doors lists the addresses of the room, for who came by the origin of the query. There is none if others cannot reach this server.
func (c *Classroom) doors(r *http.Request) (any, error) {
	from, err := url.Parse(r.FormValue("from"))
	if err != nil || from.Scheme != "http" && from.Scheme != "https" || from.Host == "" || len(from.Host) > 255 {
		return nil, fmt.Errorf("%w: from: want the origin of the page, such as http://192.168.0.7:8080", errBadRequest)
	}
	doors := []Door{}
	for _, origin := range originsOf(from, c.listens(), machine()) {
		door, err := doorOf(origin + joinPath)
		if err != nil {
			return nil, fmt.Errorf("%w: from: %w", errBadRequest, err)
		}
		doors = append(doors, door)
	}
	return struct {
		Doors []Door `json:"doors"`
	}{doors}, nil
}

// originsOf gives the origins by which others reach the server: the one by which this reader came, unless that is of this machine alone;
// then those of the addresses that the machine has, if the server listens there.
func originsOf(from *url.URL, listens netip.AddrPort, machine []netip.Addr) (all []string) {
	name := from.Hostname()
	came, err := netip.ParseAddr(name)
	if alone := name == "localhost" || strings.HasSuffix(name, ".localhost") || err == nil && came.IsLoopback(); !alone {
		return []string{from.Scheme + "://" + from.Host}
	}
	for _, addr := range machine {
		if here := listens.Addr(); here.IsUnspecified() || here == addr {
			host := net.JoinHostPort(addr.String(), strconv.Itoa(int(listens.Port())))
			all = append(all, "http://"+host)
		}
	}
	return all[:min(len(all), mostDoors)]
}

// listens gives the address at which the server listens.
func (c *Classroom) listens() netip.AddrPort {
	if tcp, is := c.Addr.(*net.TCPAddr); is {
		at := tcp.AddrPort()
		return netip.AddrPortFrom(at.Addr().Unmap(), at.Port())
	}
	return netip.AddrPort{}
}

// machine lists the addresses by which others on the network may reach this machine. Those of IPv4 come first: they are short.
func machine() (all []netip.Addr) {
	addresses, _ := net.InterfaceAddrs() // without them there is no door
	var long []netip.Addr
	for _, address := range addresses {
		prefix, err := netip.ParsePrefix(address.String())
		switch addr := prefix.Addr(); {
		case err != nil || !addr.IsGlobalUnicast():
		case addr.Is4():
			all = append(all, addr)
		default:
			long = append(long, addr)
		}
	}
	return append(all, long...)
}

// doorOf draws the QR code of an address, a rectangle for each run of dark squares in a row.
func doorOf(address string) (Door, error) {
	code, err := qr.EncodeText(address, qr.Medium)
	if err != nil {
		return Door{}, err
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
	return Door{address, code.Size(), path.String()}, nil
}
