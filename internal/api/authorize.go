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

// Guard decides who may send a request, by three things: the server's name in Host, the page that sent the request, and the token.
type Guard struct {
	Token string // whoever sends it may do all that is for administrators; empty: Open decides
	Open  bool   // without a token: everybody may, or nobody
	Local bool   // Open is meant for this machine alone: not for requests that a proxy has forwarded
	Hosts *Hosts // names that Host may have; nil: any
}

// Refuse returns why a request that is for some may not pass, nil if it may. Whoever may not send it learns nothing else.
func (g Guard) Refuse(r *http.Request, who route.Who) error {
	if !g.Hosts.know(r.Host) {
		return fmt.Errorf("%w: Host is %.100q; add the name to server.hosts, or set an admin.token", errForeignHost, r.Host)
	}
	if who == route.Reader {
		return nil
	}
	if err := checkOrigin(r); err != nil {
		return fmt.Errorf("%w: Origin is %.100q: %w", errForeignPage, r.Header.Get("Origin"), err)
	}
	if who == route.Administrator {
		return g.isAdmin(r.Header)
	}
	return nil
}

// forwardedBy returns the header by which a request says that a proxy has forwarded it; "" if there is none.
func forwardedBy(header http.Header) string {
	for _, name := range slices.Sorted(maps.Keys(header)) {
		if name == "Forwarded" || name == "Via" || name == "X-Real-Ip" || strings.HasPrefix(name, "X-Forwarded-") {
			return name
		}
	}
	return ""
}

// isSafe reports whether a request's method changes nothing, by what HTTP says of it.
func isSafe(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions
}

// checkOrigin fails for a page of another site, as http.CrossOriginProtection does; but that lets every GET pass, and some let the server
// work.
func checkOrigin(r *http.Request) error {
	origin := r.Header.Get("Origin")
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return nil
	case "":
		from, err := url.Parse(origin)
		if origin == "" || err == nil && from.Host == r.Host { // a program, or a browser of before 2023
			return nil
		}
		return errOtherOrigin
	default:
		return errOtherSite
	}
}

func (g Guard) isAdmin(header http.Header) error {
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
	case !same(token, g.Token):
		return errForbidden
	default:
		return nil
	}
}

// same compares in a time that depends neither on where the texts differ nor on their lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
