package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// fileHandler returns a handler that serves a file, which a browser caches and revalidates at each use. The file is compressed at its first
// request, so that a server whose page no one opens starts without that work.
func fileHandler(content []byte, mime string) http.Handler {
	packed := sync.OnceValue(func() []byte { return pack(content) })
	tag := fmt.Sprintf(`W/"%.8x"`, sha256.Sum256(content)) // Weak: the same for the compressed and the plain file.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header, body := w.Header(), content
		header.Set("ETag", tag)
		header.Set("Cache-Control", "no-cache")
		header.Set("Vary", "Accept-Encoding")
		header.Set("Content-Security-Policy", policy)
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Content-Type", mime)
		if acceptsGzip(r) {
			body = packed()
			header.Set("Content-Encoding", "gzip")
			header.Set("Content-Length", strconv.Itoa(len(body))) // ServeContent does not set it for an encoded body.
		}
		r.Header.Del("Range") // The file is small, and always sent whole.
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
	})
}

// pack compresses content with gzip.
func pack(content []byte) []byte {
	var packed bytes.Buffer
	writer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = writer.Write(content)
	}
	if err == nil {
		err = writer.Close()
	}
	if err != nil {
		panic(err) // The level is valid, and writing to a buffer does not fail.
	}
	return packed.Bytes()
}

// acceptsGzip reports whether a request accepts gzip: it names gzip, and not with the weight 0.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, parameter, _ := strings.Cut(coding, ";")
		if strings.TrimSpace(name) == "gzip" {
			weight, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(parameter), "q="), 64)
			return err != nil || weight > 0
		}
	}
	return false
}
