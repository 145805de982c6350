package site

import (
	"io/fs"
	"path"
	"strings"
)

// filesAlone is a file system's regular files, and its directories with an index. Whatever is or lies below a name with a dot before it is
// not there, nor is what is neither: a pipe would be waited for.
type filesAlone struct{ fs.FS }

// Open implements fs.FS.
func (f filesAlone) Open(name string) (fs.File, error) {
	missing := &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	for part := range strings.SplitSeq(name, "/") {
		if part != "." && strings.HasPrefix(part, ".") {
			return nil, missing
		}
	}
	info, err := fs.Stat(f.FS, name)
	if err != nil {
		return nil, missing // whatever it is, it is none of the site's files: a link that leads out, too
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
