// Package web serves the page on which a browser shows the shop, schedules, labs and the course, and makes documents of the same modules.
// The page is plain ES modules, SVG and CSS, embedded as they are. Begin with Handlers and Document.
package web

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"sync"
)

// embedded holds the page's files, below static.
//
//go:embed static
var embedded embed.FS

// policy is the page's Content-Security-Policy: nothing from another server, and no script or style within the document.
const policy = "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// types maps file extensions to media types. The system's own table may differ.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml; charset=utf-8",
}

// Files returns the page's files: index.html, style.css, app.js and so on.
func Files() fs.FS {
	files, err := fs.Sub(embedded, "static")
	if err != nil {
		panic(err) // "static" is a valid path
	}
	return files
}

// Handlers returns a handler for each path: the page at / and its other files below /web/. The modules of documents are left out, as each
// document contains its own, except the one that saves a document.
func Handlers() map[string]http.Handler {
	files, handlers := Files(), map[string]http.Handler{}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Dir(name) == "documents" && name != saver {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		handlers[urlPath(name)] = fileHandler(content, types[path.Ext(name)])
		return nil
	})
	if err != nil {
		panic(err) // Embedded files can always be read.
	}
	run := sync.OnceValue(func() http.Handler { return fileHandler(emptyRun(), types[".html"]) }) // Lazy: expensive, and rarely needed.
	handlers[urlPath(savedRun)] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { run().ServeHTTP(w, r) })
	return handlers
}

// urlPath returns the path at which a file is served.
func urlPath(name string) string {
	if name == "index.html" {
		return "/"
	}
	return "/web/" + name
}
