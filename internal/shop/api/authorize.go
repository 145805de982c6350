package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// Guard decides which requests may pass, by three things: the server's name in Host, the page that sent the request, and, for PUT, DELETE,
// every POST but that of a sale and of what participants tell the room, and the list of these, the token.
type Guard struct {
	Token string // clients that send it may do all of that; empty: Open decides
	Open  bool   // without a token: everybody may, or nobody
	Hosts *Hosts // names that Host may have; nil: any

	Operations Operations // that there are: a method that a path does not have needs no token to be told so; nil: it does
}

// Check returns the error of a request that may not pass.
func (g Guard) Check(r *http.Request) error {
	if !g.Hosts.know(r.Host) {
		return fmt.Errorf("%w: Host is %.100q; add the name to server.hosts, or set an admin.token", errForeignHost, r.Host)
	}
	asks := r
	if inSeat(r) { // it changes nothing and has bounds, so participants need no token; but no page of another site makes the server work
		asks = r.WithContext(r.Context())
		asks.Method = http.MethodPost
	}
	var browsers http.CrossOriginProtection
	if err := browsers.Check(asks); err != nil {
		return fmt.Errorf("%w: Origin is %.100q: %w", errForeignPage, r.Header.Get("Origin"), err)
	}
	if !isAdmins(r) {
		return nil
	}
	err := g.isAdmin(r.Header)
	if methods := g.Operations.methods(r.URL.Path); err != nil && methods != nil && !slices.Contains(methods, r.Method) {
		return &methodError{allowed: methods}
	}
	return err
}

// Participants of a class join the room, and tell it what they predict, and which level they have solved. Who they are is for who teaches.
const (
	roomJoinPath     = "/room/join"
	answerPath       = "/room/answer"
	solvedPath       = "/room/solved"
	participantsPath = "/room/participants"
)

// isAdmins reports whether a request is for those who administer: everything that is no GET, but for buying and for what participants
// tell the room; and the list of participants.
func isAdmins(r *http.Request) bool {
	switch r.Method {
	case http.MethodPut, http.MethodDelete:
		return true
	case http.MethodPost:
		return !slices.Contains([]string{"/inventory/sale", roomJoinPath, answerPath, solvedPath}, r.URL.Path)
	default:
		return path.Clean(r.URL.Path) == participantsPath
	}
}

// inSeat reports whether a request is for the scheduler's seat, where locks' code is run and explored.
func inSeat(r *http.Request) bool { return strings.HasPrefix(path.Clean(r.URL.Path), "/seat/") }

func (g Guard) isAdmin(header http.Header) error {
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

// authorize lets a request pass if the guard does.
func (a *API) authorize(c *gin.Context) {
	if err := a.Guard.Check(c.Request); err != nil {
		a.fail(c, err)
	}
}

// same compares in a time that depends neither on where the texts differ nor on their lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
