// Package docs has the documents that the program itself shows: the course.
package docs

import (
	"embed"
	"io/fs"
)

//go:embed course/*.md
var course embed.FS

// Course gives the files of the course, by their names.
func Course() fs.FS {
	files, err := fs.Sub(course, "course")
	if err != nil {
		panic(err) // the name above is no path
	}
	return files
}
