package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// file is one that a browser keeps, asking each time whether it is still the same. It is compressed once, when it is first asked for: a
// server that shows nobody its page starts without that work.
type file struct {
	content   []byte
	packed    func() []byte
	mime, tag string // the tag is weak: it names the file, whichever way it is sent
}

func newFile(content []byte, mime string) file {
	return file{content, sync.OnceValue(func() []byte { return pack(content) }), mime, fmt.Sprintf(`W/"%.8x"`, sha256.Sum256(content))}
}

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
		panic(err) // the level exists, and a buffer takes everything
	}
	return packed.Bytes()
}

func (f file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("ETag", f.tag)
	header.Set("Cache-Control", "no-cache")
	header.Set("Vary", "Accept-Encoding")
	header.Set("Content-Security-Policy", policy)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	if slices.Contains(listed(r, "If-None-Match"), f.tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	body := f.content
	if takesGzip(r) {
		body = f.packed()
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("Content-Type", f.mime)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client went away
	}
}

// takesGzip says whether a request names gzip, and not with the weight 0, which refuses it.
func takesGzip(r *http.Request) bool {
	for _, coding := range listed(r, "Accept-Encoding") {
		name, parameter, _ := strings.Cut(coding, ";")
		if strings.TrimSpace(name) == "gzip" {
			weight, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(parameter), "q="), 64)
			return err != nil || weight > 0
		}
	}
	return false
}

// listed are the members of a header that is a list.
func listed(r *http.Request, header string) []string {
	members := strings.Split(strings.Join(r.Header.Values(header), ","), ",")
	for i := range members {
		members[i] = strings.TrimSpace(members[i])
	}
	return members
}
