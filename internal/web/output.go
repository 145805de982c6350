package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// WriteJSON writes the one document that a command prints with --json.
func WriteJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(document)
}

// File is where a command writes a document at its end. It is opened at the beginning: a path that cannot be written costs no work.
type File struct {
	file    *os.File
	made    bool // here: there was none
	written bool
}

// OpenFile opens a file for --html. None, if the flag is not given, takes what is written, and does nothing.
func OpenFile(name string) (*File, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // nothing is to be written
	}
	_, err := os.Stat(name)
	made := errors.Is(err, fs.ErrNotExist)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644) //nolint:gosec // it is for everybody to read
	if err != nil {
		return nil, fmt.Errorf("--html: %w", err)
	}
	return &File{file: file, made: made}, nil
}

// Name returns the name with which it was opened.
func (h *File) Name() string { return h.file.Name() }

// Write writes the document in the place of what the file had.
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

// Close closes the file. If nothing was written it is as it was, or gone again.
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
