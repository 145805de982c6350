package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// WriteJSON writes the document that a command prints with --json, indented.
func WriteJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(document)
}

// File is the file of --html, to which a command writes a document at its end. It is opened at the beginning, so that a path that cannot be
// written is reported before any work. The methods of a nil File do nothing, except Name, which panics.
type File struct {
	file    *os.File
	made    bool // true: OpenFile created the file
	written bool // true: Write has succeeded
}

// OpenFile opens a file for --html. For an empty name it returns nil, which discards what is written.
func OpenFile(name string) (*File, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // A nil File is valid: it discards what is written.
	}
	_, err := os.Stat(name)
	made := errors.Is(err, fs.ErrNotExist)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644) //nolint:gosec // Everybody may read the document.
	if err != nil {
		return nil, fmt.Errorf("--html: %w", err)
	}
	return &File{file: file, made: made}, nil
}

// Name returns the path passed to OpenFile. f must not be nil.
func (f *File) Name() string { return f.file.Name() }

// Write replaces the file's contents with document. Call it once.
func (f *File) Write(document []byte) error {
	if f == nil {
		return nil
	}
	_, err := f.file.Write(document)
	if info, statErr := f.file.Stat(); err == nil && statErr == nil && info.Mode().IsRegular() {
		err = f.file.Truncate(int64(len(document)))
	}
	if err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	f.written = true
	return nil
}

// Close closes the file. If nothing was written, the file keeps its contents, or is removed if OpenFile created it.
func (f *File) Close() error {
	if f == nil {
		return nil
	}
	err := f.file.Close()
	if f.made && !f.written {
		err = errors.Join(err, os.Remove(f.file.Name()))
	}
	return err
}
