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

	"lockstep/internal/dao"
)

var (
	errAddr  = errors.New("want host:port, such as 127.0.0.1:8080")
	errAddrs = errors.New("want host:port or redis://user:password@host:port, or several, such as 127.0.0.1:6379; " +
		"in a password write %40 for @, %2F for /, %2C for a comma and %20 for a space")
)

func setAddr(to *string) func(any) error {
	return func(value any) error {
		if err := setText(to)(value); err != nil || !isAddr(*to) {
			return errAddr
		}
		return nil
	}
}

// setAddrs takes host:port, or a redis:// or rediss:// URL, which can say user, password and TLS too.
func setAddrs(r *dao.Config) func(any) error {
	return func(value any) error {
		texts, err := several(value)
		if err != nil {
			return errAddrs
		}
		r.Addrs = nil
		for _, addr := range texts {
			if addr = takeURL(r, addr); !isAddr(addr) {
				return errAddrs
			}
			r.Addrs = append(r.Addrs, addr)
		}
		return nil
	}
}

// takeURL takes what a Redis's URL says, and returns its host:port; what is no URL is returned as it is.
func takeURL(r *dao.Config, addr string) string {
	u, err := url.Parse(addr)
	if err != nil || u.Host == "" || u.Scheme != "redis" && u.Scheme != "rediss" {
		return addr
	}
	if u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || strings.ContainsAny(addr, "?#") { // no host: it may be a password
		return ""
	}
	if u.User != nil {
		r.Username = u.User.Username()
		r.Password, _ = u.User.Password()
	}
	r.TLS = r.TLS || u.Scheme == "rediss"
	return u.Host
}

// setList takes a list that is allowed, or none.
func setList(to *[]string, allowed func([]string) bool, want string) func(any) error {
	return func(value any) error {
		texts, err := several(value)
		if err != nil || !allowed(texts) {
			return errors.New("want " + want)
		}
		*to = append([]string(nil), texts...) // none is nil
		return nil
	}
}

func areAddrs(texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !isAddr(text) })
}

func areHosts(texts []string) bool {
	return !slices.ContainsFunc(texts, func(name string) bool { return isAddr(name) || !isHost(name) })
}

// areNodes reports whether these are three nodes or more, and none twice: a majority must be of different nodes.
func areNodes(texts []string) bool {
	different := slices.Compact(slices.Sorted(slices.Values(texts)))
	return areAddrs(texts) && len(different) == len(texts) && (len(texts) == 0 || len(texts) >= 3)
}

// several returns the texts of a list, or of one text with commas or spaces between them.
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
