package config

import (
	"errors"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cast"
)

var (
	errAddr  = errors.New("want host:port, such as 127.0.0.1:8080")
	errAddrs = errors.New("want host:port or redis://user:password@host:port, or several, such as 127.0.0.1:6379; " +
		"in a password write %40 for @, %2F for /, %2C for a comma and %20 for a space")
	errNodes = errors.New("want host:port of at least three different masters, such as 127.0.0.1:6381,127.0.0.1:6382,127.0.0.1:6383")
	errPeers = errors.New("want host:port of other servers, such as 10.0.0.2:8080,10.0.0.3:8080")
	errHosts = errors.New("want names without a port, such as shop.example.com")
)

func setAddr(to *string, value any) error {
	if err := setText(to, value); err != nil || !isAddr(*to) {
		return errAddr
	}
	return nil
}

// setAddrs takes host:port, or a redis:// or rediss:// URL, which can say user, password and TLS too.
func setAddrs(r *Redis, value any) error {
	texts, err := several(value)
	if err != nil {
		return errAddrs
	}
	r.Addrs = nil
	for _, addr := range texts {
		if u, err := url.Parse(addr); err == nil && u.Host != "" && (u.Scheme == "redis" || u.Scheme == "rediss") {
			if u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || strings.ContainsAny(addr, "?#") { // no host: it may be a password
				return errAddrs
			}
			if u.User != nil {
				r.Username = u.User.Username()
				r.Password, _ = u.User.Password()
			}
			r.TLS = r.TLS || u.Scheme == "rediss"
			addr = u.Host
		}
		if !isAddr(addr) {
			return errAddrs
		}
		r.Addrs = append(r.Addrs, addr)
	}
	return nil
}

// setNodes takes any number of nodes from three on, but none twice: a majority must be of different nodes.
func setNodes(to *[]string, value any) error {
	texts, err := several(value)
	if err != nil {
		return errNodes
	}
	*to = nil
	for _, addr := range texts {
		if !isAddr(addr) || slices.Contains(*to, addr) {
			return errNodes
		}
		*to = append(*to, addr)
	}
	if n := len(*to); n == 1 || n == 2 {
		return errNodes
	}
	return nil
}

func setHosts(to *[]string, value any) error {
	texts, err := several(value)
	if err != nil || slices.ContainsFunc(texts, func(name string) bool { return isAddr(name) || !isHost(name) }) {
		return errHosts
	}
	*to = append([]string(nil), texts...) // none is nil
	return nil
}

func setPeers(to *[]string, value any) error {
	texts, err := several(value)
	if err != nil || slices.ContainsFunc(texts, func(text string) bool { return !isAddr(text) }) {
		return errPeers
	}
	*to = append([]string(nil), texts...) // none is nil
	return nil
}

// several gives the texts of a list, or of one text with commas or spaces between them.
func several(value any) ([]string, error) {
	texts, err := cast.ToStringSliceE(value)
	return strings.FieldsFunc(strings.Join(texts, ","), func(c rune) bool { return c == ',' || c == ' ' }), err
}

// Reachable returns the address at which to reach what listens at addr: loopback, if it listens at every address of this machine.
func Reachable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return addr
}

// isAddr reports whether a text is host:port. A host with other characters than a name's is refused: it may hold a password.
func isAddr(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil || !isHost(host) {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

func isHost(text string) bool { return !strings.ContainsAny(text, "/\\@?#&=\"' \t\r\n") }

var plainAddrs = regexp.MustCompile(`^[\w.-]*:\d+([, ]+[\w.-]*:\d+)*$`)

// harmless reports whether an address of a Redis can be shown: it consists of names and ports, and no part may be a password.
func harmless(value any) bool {
	texts, err := cast.ToStringSliceE(value)
	return err == nil && plainAddrs.MatchString(strings.Join(texts, ","))
}
