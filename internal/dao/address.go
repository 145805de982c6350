package dao

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Address is the network address of one Redis server, with the number of the database to use.
type Address struct {
	Dial string // host:port, or the path of a unix socket, which begins with /
	DB   int    // database number
}

// IsSocket reports whether the address is that of a unix socket.
func (a Address) IsSocket() bool { return strings.HasPrefix(a.Dial, "/") }

// String formats the address for messages, settings and ParseAddress: host:port, redis://host:port/2, unix:///run/redis.sock or
// unix:///run/redis.sock?db=2. The text contains no comma, so that addresses can be listed.
func (a Address) String() string {
	u := url.URL{Scheme: "redis", Host: a.Dial}
	switch {
	case a.IsSocket():
		u = url.URL{Scheme: "unix", Path: a.Dial}
		if a.DB != 0 {
			u.RawQuery = "db=" + strconv.Itoa(a.DB)
		}
	case a.DB == 0:
		return a.Dial
	default:
		u.Path = "/" + strconv.Itoa(a.DB)
	}
	return strings.ReplaceAll(u.String(), ",", "%2C")
}

// ParseAddress parses the format of Address.String. It fails if the text is not a valid URL or its database is not a number.
func ParseAddress(text string) (a Address, err error) {
	if !strings.Contains(text, "://") {
		return Address{Dial: text}, nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return a, fmt.Errorf("invalid Redis address: %w", err)
	}
	a.Dial = u.Host
	db := strings.TrimPrefix(u.Path, "/")
	if u.Scheme == "unix" {
		a.Dial, db = u.Path, u.Query().Get("db")
	}
	if db != "" {
		a.DB, err = strconv.Atoi(db)
	}
	return a, err
}
