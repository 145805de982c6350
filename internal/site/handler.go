package site

import (
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"lockstep/internal/language"
)

// Handler serves the site in the directory that find returns, below a path, with policy as its Content-Security-Policy. While find returns
// false, the response says how to build the site.
func Handler(below, policy string, find func() (dir string, ok bool)) http.Handler {
	var mu sync.Mutex
	var site http.Handler // nil: not found yet
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if site == nil {
			if dir, ok := find(); ok {
				if root, err := os.OpenRoot(dir); err == nil { // A root follows no link that leads out of it.
					site = http.StripPrefix(below, http.FileServerFS(publicFiles{root.FS()}))
				}
			}
		}
		files := site
		mu.Unlock()
		header := w.Header()
		header.Set("Cache-Control", "no-cache")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Content-Security-Policy", policy)
		if files == nil {
			missing := language.Both("The page that runs in a tab is not here yet. In a clone of lockstep: go run . site . Then load this again.",
				"这里还没有可以在标签页里运行的页面。请在 lockstep 的克隆目录中运行：go run . site 。然后刷新。")
			http.Error(w, missing.In(language.English)+"\n"+missing.In(language.Chinese), http.StatusNotFound)
			return
		}
		files.ServeHTTP(w, r)
	})
}

// FindReleased returns the directory of the site that a release has beside its program.
func FindReleased() (dir string, ok bool) {
	program, err := os.Executable()
	if err != nil {
		return "", false
	}
	dir = filepath.Join(filepath.Dir(program), "site")
	_, err = os.Stat(filepath.Join(dir, filesFile))
	return dir, err == nil
}
