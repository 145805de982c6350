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
	header.Set("Content-Type", f.mime)
	body := f.content
	if takesGzip(r) {
		body = f.packed()
		header.Set("Content-Encoding", "gzip")
		header.Set("Content-Length", strconv.Itoa(len(body))) // ServeContent tells it of no encoded body
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// takesGzip says whether a request names gzip, and not with the weight 0, which refuses it.
func takesGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, parameter, _ := strings.Cut(coding, ";")
		if strings.TrimSpace(name) == "gzip" {
			weight, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(parameter), "q="), 64)
			return err != nil || weight > 0
		}
	}
	return false
}
