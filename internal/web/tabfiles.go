package web

import (
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// tabPolicy is the Content-Security-Policy of a page whose host sends no headers and whose workers run WebAssembly.
const tabPolicy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' data:; object-src 'none'; " +
	"base-uri 'none'; form-action 'self'"

// TabPolicy is the same policy for a host that sends headers: only a header can forbid frames.
const TabPolicy = tabPolicy + "; frame-ancestors 'none'"

// noscript matches the element for browsers without JavaScript.
var noscript = regexp.MustCompile(`(?s)<noscript>.*</noscript>`)

// TabFiles returns the page's files by path, for a host that only serves files. version identifies the programs that run in the tab.
func TabFiles(version string) map[string][]byte {
	all, files := map[string][]byte{}, Files()
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(files, name)
		switch name {
		case "index.html":
			page := strings.Replace(string(content), `<html lang="en">`, `<html lang="en" data-tab="`+version+`">`, 1)
			page = strings.Replace(page, `<meta charset="utf-8">`,
				`<meta charset="utf-8">`+"\n"+`<meta http-equiv="Content-Security-Policy" content="`+tabPolicy+`">`, 1)
			page = strings.Replace(page, "</head>", preloadLinks(files)+"</head>", 1)
			all[name] = []byte(noscript.ReplaceAllString(page,
				"<noscript><p>This page needs JavaScript. · 这个页面需要 JavaScript。</p></noscript>"))
		case "tab/keep.js": // A service worker caches only what is below its path.
			all["keep.js"] = content
		default:
			all["web/"+name] = content
		}
		return err
	})
	if err != nil {
		panic(err) // Embedded files can always be read.
	}
	all["web/"+savedRun] = emptyRun()
	return all
}

// preloadLinks returns links to the modules of the shop's view, so that a browser fetches them at once instead of one after another.
func preloadLinks(files fs.FS) string {
	var modules []string
	var add func(name string)
	add = func(name string) {
		if slices.Contains(modules, name) {
			return
		}
		modules = append(modules, name)
		text, err := fs.ReadFile(files, name)
		if err != nil {
			panic(err) // Embedded modules import only embedded modules.
		}
		for _, found := range imported.FindAllStringSubmatch(string(text), -1) {
			add(path.Join(path.Dir(name), found[2]))
		}
	}
	for _, name := range []string{"app.js", "tab/tab.js", "views/shop.js"} {
		add(name)
	}
	var links strings.Builder
	for _, name := range modules {
		links.WriteString(`<link rel="modulepreload" href="web/` + name + `">` + "\n")
	}
	return links.String()
}
