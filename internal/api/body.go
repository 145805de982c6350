package api

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"
)

// A request's body may be so many bytes long, and take so long to come.
const (
	maxBody  = 64 << 10
	bodyTime = 10 * time.Second
)

// ReadBody reads a request's whole body first, within bounds: until it has been read, net/http does not watch for a client that
// goes away.
func ReadBody(w http.ResponseWriter, r *http.Request) error {
	connection := http.NewResponseController(w)
	_ = connection.SetReadDeadline(time.Now().Add(bodyTime)) // not every ResponseWriter can; then the client's patience is the bound
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	_ = connection.SetReadDeadline(time.Time{})
	if err != nil {
		w.Header().Set("Connection", "close")
		return badRequest(err, fmt.Sprintf("want a body of at most %d bytes, sent within %v", maxBody, bodyTime))
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength = int64(len(body))
	if len(body) == 0 {
		r.Body = http.NoBody
	}
	return nil
}
