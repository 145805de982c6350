package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// htmlFile is a document that a command writes at its end. It is opened at the beginning: a path that cannot be written costs no work.
type htmlFile struct {
	file    *os.File
	made    bool // here: there was none
	written bool
}

// openHTML opens a file for --html. None, if the flag is not given, takes what is written, and does nothing.
func openHTML(name string) (*htmlFile, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // nothing is to be written
	}
	_, err := os.Stat(name)
	made := errors.Is(err, fs.ErrNotExist)
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o644) //nolint:gosec // it is for everybody to read
	if err != nil {
		return nil, fmt.Errorf("--html: %w", err)
	}
	return &htmlFile{file: file, made: made}, nil
}

// write writes the document in the place of what the file had.
func (h *htmlFile) write(document []byte) error {
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

// close closes the file. If nothing was written it is as it was, or gone again.
func (h *htmlFile) close() error {
	if h == nil {
		return nil
	}
	err := h.file.Close()
	if h.made && !h.written {
		err = errors.Join(err, os.Remove(h.file.Name()))
	}
	return err
}
