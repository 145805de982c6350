package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"lockstep/internal/api/route"
)

// Guard decides who may send a request. It checks the Host header, the page that sent the request, and the token.
type Guard struct {
	Token string // grants administrator rights; empty: Open decides
	Open  bool   // without a token, true: everyone is an administrator; false: nobody is
	Local bool   // true: Open does not cover requests forwarded by a proxy
	Hosts *Hosts // allowed values of Host; nil: any
}

// Refuse returns an error if the sender of r is not in who, and nil otherwise. The error reveals nothing else about the route.
func (g Guard) Refuse(r *http.Request, who route.Access) error {
	if !g.Hosts.isKnown(r.Host) {
		return fmt.Errorf("%w: Host is %.100q; add the name to server.hosts, or set an admin.token", errForeignHost, r.Host)
	}
	if who == route.Reader {
		return nil
	}
	if err := checkOrigin(r); err != nil {
		return fmt.Errorf("%w: Origin is %.100q: %w", errForeignPage, r.Header.Get("Origin"), err)
	}
	if who == route.Administrator {
		return g.checkAdmin(r.Header)
	}
	return nil
}

// forwardedBy returns the name of a header that shows that a proxy has forwarded the request; "" if it has none.
func forwardedBy(header http.Header) string {
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if name == "Forwarded" || name == "Via" || name == "X-Real-Ip" || strings.HasPrefix(name, "X-Forwarded-") {
			return name
		}
	}
	return ""
}

// isSafe reports whether a request's method is safe, as HTTP defines it: it changes nothing.
func isSafe(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
}

// checkOrigin returns an error for a request from a page of another site. http.CrossOriginProtection would let every GET pass, and some
// make the server work.
func checkOrigin(r *http.Request) error {
	origin := r.Header.Get("Origin")
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return nil
	case "":
		from, err := url.Parse(origin)
		if origin == "" || err == nil && from.Host == r.Host { // A program, or a browser from before 2023.
			return nil
		}
		return errOtherOrigin
	default:
		return errOtherSite
	}
}

// checkAdmin returns an error if the sender of a request with this header is not an administrator.
func (g Guard) checkAdmin(header http.Header) error {
	scheme, token, _ := strings.Cut(header.Get("Authorization"), " ")
	switch {
	case g.Token == "" && g.Open && g.Local && forwardedBy(header) != "":
		return fmt.Errorf("%w: it has the header %s", errForwarded, forwardedBy(header))
	case g.Token == "" && g.Open:
		return nil
	case g.Token == "":
		return errNoToken
	case !strings.EqualFold(scheme, "Bearer"):
		return errUnauthorized
	case !equalInConstantTime(token, g.Token):
		return errForbidden
	default:
		return nil
	}
}

// equalInConstantTime compares two texts in a time that depends neither on their difference nor on their lengths.
func equalInConstantTime(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
