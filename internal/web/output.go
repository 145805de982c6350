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

// File is the file to which a command writes a document at its end. It is opened at the beginning, so that a path that cannot be written
// is reported before any work. A nil File discards what is written.
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

// Name returns the name with which the file was opened.
func (h *File) Name() string { return h.file.Name() }

// Write replaces the file's contents by the document.
func (h *File) Write(document []byte) error {
	if h == nil {
		return nil
	}
	_, err := h.file.Write(document)
	if info, statErr := h.file.Stat(); err == nil && statErr == nil && info.Mode().IsRegular() {
		err = h.file.Truncate(int64(len(document)))
	}
	if err != nil {
		return fmt.Errorf("--html: %w", err)
	}
	h.written = true
	return nil
}

// Close closes the file. If nothing was written, the file keeps its contents, or is removed if OpenFile created it.
func (h *File) Close() error {
	if h == nil {
		return nil
	}
	err := h.file.Close()
	if h.made && !h.written {
		err = errors.Join(err, os.Remove(h.file.Name()))
	}
	return err
}
