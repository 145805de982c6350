// Package web is the page: what a browser shows of the shop and of schedules. It is plain ES modules, SVG and CSS, embedded as they are.
package web

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"sync"
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

// Handlers serve the page at / and its other files below /web/, each at its path. Those of documents are in the documents themselves,
// but for what saves one.
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
		handlers[at(name)] = served(content, types[path.Ext(name)])
		return nil
	})
	if err != nil {
		panic(err) // what is embedded can be read
	}
	run := sync.OnceValue(func() http.Handler { return served(emptyRun(), types[".html"]) }) // it takes a while, and few save a run
	handlers[at(savedRun)] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { run().ServeHTTP(w, r) })
	return handlers
}

func at(name string) string {
	if name == "index.html" {
		return "/"
	}
	return "/web/" + name
}
