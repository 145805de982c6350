package api

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"time"
)

// BodyTime is how long a client may take to send a request's body.
const BodyTime = 5 * time.Second

// maxBody is the maximum length of a request's body in bytes.
const maxBody = 64 << 10

// readBody reads a request's whole body before it is handled, within maxBody and BodyTime. It reads early because net/http detects a
// disconnected client only after the body has been read.
func readBody(w http.ResponseWriter, r *http.Request) error {
	connection := http.NewResponseController(w)
	var body []byte
	if r.Body != http.NoBody { // A sale usually has no body.
		_ = connection.SetReadDeadline(time.Now().Add(BodyTime)) // Not every ResponseWriter supports deadlines.
		var err error
		if body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody)); err != nil {
			// The deadline stays: net/http reads the rest of the body before it closes the connection, and must not wait long.
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
	// A reverse proxy may send the body to several replicas.
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	r.Body, _ = r.GetBody()
	return nil
}
