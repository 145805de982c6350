package api

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"
)

// BodyTime is how long a request's body may take to come.
const BodyTime = 5 * time.Second

// maxBody is how many bytes long it may be.
const maxBody = 64 << 10

// readBody reads a request's whole body before it is handled, within bounds: net/http notices that a client has gone away only after the
// body has been read.
func readBody(w http.ResponseWriter, r *http.Request) error {
	connection := http.NewResponseController(w)
	var body []byte
	if r.Body != http.NoBody { // as a sale's is
		_ = connection.SetReadDeadline(time.Now().Add(BodyTime)) // not every ResponseWriter can
		var err error
		if body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
			// the deadline stays: net/http reads what is left of the body before it closes the connection, and must not wait for it
			w.Header().Set("Connection", "close")
			return BadRequest(err, fmt.Sprintf("want a body of at most %d bytes, sent within %v", maxBody, BodyTime))
		}
	}
	_ = connection.SetReadDeadline(time.Time{})
	r.ContentLength = int64(len(body))
	if len(body) == 0 {
		r.Body = http.NoBody
		return nil
	}
	// for a front, which may dial several replicas
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
	return nil
}
