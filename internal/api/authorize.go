package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
)

// Guard says which requests may pass: by the name they call the server, by the page they come from, and by who may use PUT and DELETE.
type Guard struct {
	Token string // whoever sends it may use PUT and DELETE; empty: Open says who may
	Open  bool   // without a token: everybody may, or nobody
	Hosts *Hosts // what the server may be called; nil: anything
}

// Check gives the status, the code and the error for a request that may not pass, or no error.
func (g Guard) Check(r *http.Request) (status int, code string, err error) {
	if err = g.check(r); err != nil {
		status, code = statusOf(err)
	}
	return status, code, err
}

func (g Guard) check(r *http.Request) error {
	if !g.Hosts.know(r.Host) {
		return fmt.Errorf("%w: Host is %.100q; add the name to server.hosts, or set an admin.token", errForeignHost, r.Host)
	}
	var browsers http.CrossOriginProtection
	if err := browsers.Check(r); err != nil {
		return fmt.Errorf("%w: Origin is %.100q: %w", errForeignPage, r.Header.Get("Origin"), err)
	}
	if r.Method != http.MethodPut && r.Method != http.MethodDelete {
		return nil
	}
	return g.administers(r.Header)
}

func (g Guard) administers(header http.Header) error {
	scheme, token, _ := strings.Cut(header.Get("Authorization"), " ")
	switch {
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

// authorize lets a request pass if it may.
func (a *API) authorize(c *gin.Context) {
	if status, code, err := a.Guard.Check(c.Request); err != nil {
		a.refuse(c, status, code, err)
	}
}

// same compares in a time that tells nothing of where they differ, nor of their lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
