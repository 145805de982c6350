package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"

	"github.com/gin-gonic/gin"
)

// authorize lets a request for PUT or DELETE pass if it may.
func (a *API) authorize(c *gin.Context) {
	if a.Open {
		return
	}
	scheme, token, _ := strings.Cut(c.GetHeader("Authorization"), " ")
	switch {
	case a.Token == "":
		a.fail(c, errNoToken)
	case !strings.EqualFold(scheme, "Bearer"):
		c.Header("WWW-Authenticate", "Bearer")
		a.fail(c, errUnauthorized)
	case !same(token, a.Token):
		a.fail(c, errForbidden)
	}
}

// same compares in a time that tells nothing of where they differ, nor of their lengths.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}
