// Package web is the page: what a browser shows of the shop and of schedules. It is plain ES modules, SVG and CSS, embedded as they are.
package web

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
)

//go:embed static
var embedded embed.FS

// policy is the page's Content-Security-Policy: nothing from another server, and no script or style within the document.
const policy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// types are said here, as a system may have others.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml; charset=utf-8",
}

// Files are the page's own: index.html, style.css, app.js, ….
func Files() fs.FS {
	files, err := fs.Sub(embedded, "static")
	if err != nil {
		panic(err) // "static" is a valid path
	}
	return files
}

// Handlers serve the page at / and its other files below /web/, each at its path.
func Handlers() map[string]http.Handler {
	files, handlers := Files(), map[string]http.Handler{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		handlers[at(name)] = file{
			content: content, mime: types[path.Ext(name)], tag: fmt.Sprintf(`"%.8x"`, sha256.Sum256(content)),
		}
		return err
	})
	if err != nil {
		panic(err) // what is embedded can be read
	}
	return handlers
}

func at(name string) string {
	if name == "index.html" {
		return "/"
	}
	return "/web/" + name
}

// file is one that a browser keeps, asking each time whether it is still the same.
type file struct {
	content   []byte
	mime, tag string
}

func (f file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("ETag", f.tag)
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Security-Policy", policy)
	header.Set("Content-Type", f.mime)
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	if r.Header.Get("If-None-Match") == f.tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(f.content) // the client went away
}
