package site

import (
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"lockstep/internal/language"
)

// Handler serves the site below a path: the one of a release, in the directory site beside the program, or the one that was built from the
// sources here. Where there is none, it says how to get it. Policy is the Content-Security-Policy of its files.
func Handler(below, policy string, find func() (dir string, there bool)) http.Handler {
	var mu sync.Mutex
	var found http.Handler
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		if found == nil {
			if dir, there := find(); there {
				if root, err := os.OpenRoot(dir); err == nil { // it follows no link that leads out
					found = http.StripPrefix(below, http.FileServerFS(filesAlone{root.FS()}))
				}
			}
		}
		files := found
		mu.Unlock()
		header := w.Header()
		header.Set("Cache-Control", "no-cache")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Content-Security-Policy", policy)
		if files == nil {
			none := language.Both("The page that runs in a tab is not here yet. In a clone of lockstep: go run . site . Then load this again.",
				"这里还没有可以在标签页里运行的页面。请在 lockstep 的克隆目录中运行：go run . site 。然后刷新。")
			http.Error(w, none.In(language.English)+"\n"+none.In(language.Chinese), http.StatusNotFound)
			return
		}
		files.ServeHTTP(w, r)
	})
}

// Released returns the site of a release: that beside the program.
func Released() (dir string, there bool) {
	program, err := os.Executable()
	if err != nil {
		return "", false
	}
	dir = filepath.Join(filepath.Dir(program), "site")
	_, err = os.Stat(filepath.Join(dir, filesFile))
	return dir, err == nil
}
