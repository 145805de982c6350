package site

import (
	"io/fs"
	"path"
	"strings"
)

// publicFiles is the public part of a file system: its regular files, and its directories with an index. It hides names that begin with a
// dot and what is below them, and files that are not regular: opening a pipe would block.
type publicFiles struct{ fs.FS }

// Open implements fs.FS.
func (f publicFiles) Open(name string) (fs.File, error) {
	missing := &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	for part := range strings.SplitSeq(name, "/") {
		if part != "." && strings.HasPrefix(part, ".") {
			return nil, missing
		}
	}
	info, err := fs.Stat(f.FS, name)
	if err != nil {
		return nil, missing // It may be a link that leads out of the site.
	}
	if info.IsDir() {
		if index, err := fs.Stat(f.FS, path.Join(name, "index.html")); err != nil || !index.Mode().IsRegular() {
			return nil, missing
		}
		return f.FS.Open(name)
	}
	if !info.Mode().IsRegular() {
		return nil, missing
	}
	return f.FS.Open(name)
}
