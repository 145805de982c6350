package config

import (
	"errors"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cast"

	"lockstep/internal/dao"
)

var (
	errAddr  = errors.New("want host:port, such as 127.0.0.1:8080")
	errAddrs = errors.New("want host:port, redis://user:password@host:port/database or unix:///path/of/a/socket, or several, " +
		"such as 127.0.0.1:6379; in a password write %40 for @, %2F for /, %2C for a comma and %20 for a space")
	errNoPort   = errors.New("want the port, too: redis://127.0.0.1:6379")
	errDatabase = errors.New("want the number of a database after the port, such as redis://127.0.0.1:6379/2")
	errSocket   = errors.New("want unix:// and the path of a socket, which begins with /, such as unix:///run/redis.sock " +
		"or unix:///run/redis.sock?db=2")
	errUsers = errors.New("want the same user and password in every address: they are those of redis.username and redis.password")
	errNodes = errors.New("want at least three different masters, such as 127.0.0.1:6381,127.0.0.1:6382,127.0.0.1:6383")
)

// setAddr sets one address to listen at.
func setAddr(to *string) func(any) error {
	return func(value any) error {
		if err := setText(to)(value); err != nil || !isAddr(*to) {
			return errAddr
		}
		return nil
	}
}

// setAddrs sets the addresses of a Redis. A URL can also set user, password and TLS.
func setAddrs(r *dao.Config, to *[]string) func(any) error {
	return func(value any) error {
		texts, err := splitList(value)
		if err != nil {
			return errAddrs
		}
		*to = nil
		for _, text := range texts {
			addr, err := parseAddr(r, text)
			if err != nil {
				return err
			}
			*to = append(*to, addr.String())
		}
		return nil
	}
}

// setNodes sets the addresses of the nodes of Redlock: three or more different servers.
func setNodes(r *dao.Config) func(any) error {
	return func(value any) error {
		if err := setAddrs(r, &r.RedlockAddrs)(value); err != nil {
			return err
		}
		servers := map[string]bool{}
		for _, text := range r.RedlockAddrs {
			addr, err := dao.ParseAddress(text)
			if err != nil {
				return err
			}
			servers[addr.Dial] = true // Two databases of one server are one master.
		}
		if n := len(r.RedlockAddrs); n != len(servers) || n > 0 && n < 3 {
			return errNodes
		}
		return nil
	}
}

// parseAddr parses an address. User, password and TLS of a URL go into r. Its errors quote nothing, because any part may be a password.
func parseAddr(r *dao.Config, text string) (addr dao.Address, err error) {
	if !strings.Contains(text, "://") {
		if !isAddr(text) {
			return addr, errAddrs
		}
		return dao.Address{Dial: text}, nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return addr, errAddrs
	}
	var db string
	switch u.Scheme {
	case "redis", "rediss":
		var separate, parameters bool
		_, db, separate = strings.Cut(u.Path, "/")
		parameters = strings.ContainsAny(text, "?#")
		switch {
		case u.Hostname() == "" || !isHost(u.Hostname()) || parameters: // Parameters may be a part of a password.
			return addr, errAddrs
		case u.Port() == "":
			return addr, errNoPort
		case !isAddr(u.Host):
			return addr, errAddrs
		case separate && db != "" && !isDigits(db):
			return addr, errDatabase
		}
		addr.Dial = u.Host
		r.TLS = r.TLS || u.Scheme == "rediss"
	case "unix":
		query := u.Query()
		db = query.Get("db")
		if u.Host != "" || !isSocket(u.Path) || u.Fragment != "" || len(query) > 1 || len(query) == 1 && !isDigits(db) {
			return addr, errSocket
		}
		addr.Dial = u.Path
	default:
		return addr, errAddrs
	}
	if db != "" {
		if addr.DB, err = strconv.Atoi(db); err != nil {
			return addr, errDatabase
		}
	}
	return addr, setUser(r, u.User)
}

// checkAddrs refuses databases and sockets where Redis does not support them.
func checkAddrs(r dao.Config) error {
	databases := map[int]bool{}
	for _, text := range slices.Concat(r.Addrs, r.RedlockAddrs) {
		addr, err := dao.ParseAddress(text)
		if err != nil {
			return err
		}
		if addr.IsSocket() && r.TLS {
			return errors.New("a unix socket is not allowed with redis.tls: Redis does not use TLS on it")
		}
	}
	for _, text := range r.Addrs {
		addr, err := dao.ParseAddress(text)
		if err != nil {
			return err
		}
		databases[addr.DB] = true
		switch {
		case r.Cluster && addr.DB != 0:
			return errors.New("a database is not allowed with redis.cluster: a Cluster has only database 0; leave the number out")
		case (r.Cluster || r.MasterName != "") && addr.IsSocket():
			return errors.New("a unix socket is not allowed with redis.cluster or redis.master_name: " +
				"nodes and Sentinels are reached at the host:port by which they name each other")
		}
	}
	if len(databases) > 1 {
		return errors.New("different databases are not allowed: lockstep uses one database of one master; " +
			"write its number after each Sentinel, such as redis://10.0.0.1:26379/2")
	}
	return nil
}

// setUser sets user and password from a URL. All addresses must have the same.
func setUser(r *dao.Config, user *url.Userinfo) error {
	if user == nil {
		return nil
	}
	name := user.Username()
	password, _ := user.Password()
	if r.Username+r.Password != "" && (name != r.Username || password != r.Password) {
		return errUsers
	}
	r.Username, r.Password = name, password
	return nil
}

// setList sets a list of texts. allowed reports whether it is valid, and want describes a valid one.
func setList(to *[]string, allowed func([]string) bool, want string) func(any) error {
	return func(value any) error {
		texts, err := splitList(value)
		if err != nil || !allowed(texts) {
			return errors.New("want " + want)
		}
		*to = append([]string(nil), texts...) // An empty list becomes nil.
		return nil
	}
}

// areAddrs reports whether each text is host:port.
func areAddrs(texts []string) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !isAddr(text) })
}

// areHosts reports whether each text is a host name without a port.
func areHosts(texts []string) bool {
	return !slices.ContainsFunc(texts, func(name string) bool { return isAddr(name) || !isHost(name) })
}

// splitList returns the elements of a list, or of a text in which commas or spaces separate them.
func splitList(value any) ([]string, error) {
	texts, err := cast.ToStringSliceE(value)
	return strings.FieldsFunc(strings.Join(texts, ","), func(c rune) bool { return c == ',' || c == ' ' }), err
}

// Reachable returns the address at which this machine reaches a server that listens at addr: on loopback, if the server listens at every
// address of this machine.
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

// isSocket reports whether a text may be the path of a unix socket. One with the signs of a URL is refused: it may hold a password.
func isSocket(text string) bool {
	return len(text) > 1 && text[0] == '/' && !strings.ContainsAny(text, "\\@:?#&=\"'\t\r\n")
}

// isDigits reports whether a text consists of decimal digits.
func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// isHost reports whether a text may be a host name or an IP address.
func isHost(text string) bool { return !strings.ContainsAny(text, "/\\@?#&=\"' \t\r\n") }
