package exercise

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// ProgressFile is what the file is called.
const ProgressFile = ".lockstep-course.json"

// Progress is how far a learner is: it is kept in a file beside go.mod, which git ignores. Its zero value is that of somebody who begins.
type Progress struct {
	Done        map[string]bool   `json:"done,omitempty"`           // exercises, by ID
	Hints       map[string]int    `json:"hints,omitempty"`          // how many were given, by exercise
	Asked       map[string]int    `json:"solution_asked,omitempty"` // how often, by exercise
	Predictions map[string]string `json:"predictions,omitempty"`    // what was chosen, by question of a lesson
}

// ErrUnreadable means that the file is there, and is not what it should be. It is never written over.
var ErrUnreadable = errors.New("cannot be read as progress; mend it, or remove it to begin anew")

// errChanged means that another program has written the file meanwhile.
var errChanged = errors.New("another program keeps changing it")

// ProgressStore is the file. The goroutines of one program that use the same one do not come between each other. Another program might: a
// change that it has made meanwhile is seen, and kept.
type ProgressStore struct {
	path string
	mu   sync.Mutex
}

// ProgressIn returns the store of the directory with go.mod.
func ProgressIn(dir string) *ProgressStore {
	return &ProgressStore{path: filepath.Join(dir, ProgressFile)}
}

// Load reads the progress. Where there is no file, nothing was done yet.
func (s *ProgressStore) Load() (Progress, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, _, err := s.read()
	return p, err
}

// mostTries bounds how often Update begins anew.
const mostTries = 10

// Update changes the progress. change may be called several times, each time with what the file holds then.
func (s *ProgressStore) Update(change func(*Progress)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range mostTries {
		p, before, err := s.read()
		if err != nil {
			return err
		}
		change(&p)
		if err := s.write(p, before); !errors.Is(err, errChanged) {
			return err
		}
	}
	return fmt.Errorf("%s: %w", s.path, errChanged)
}

// read returns the progress, all maps made, and the text that it was read from.
func (s *ProgressStore) read() (Progress, []byte, error) {
	var p Progress
	text, err := os.ReadFile(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return Progress{}, nil, fmt.Errorf("%s: %w: %w", s.path, ErrUnreadable, err)
	default:
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields() // of a newer lockstep: writing would lose them
		if err := decoder.Decode(&p); err != nil {
			return Progress{}, nil, fmt.Errorf("%s: %w: %w", s.path, ErrUnreadable, err)
		}
	}
	for _, counts := range []*map[string]int{&p.Hints, &p.Asked} {
		if *counts == nil {
			*counts = map[string]int{}
		}
	}
	if p.Done == nil {
		p.Done = map[string]bool{}
	}
	if p.Predictions == nil {
		p.Predictions = map[string]string{}
	}
	return p, text, nil
}

// write replaces the file at once, unless it is no longer what it was.
func (s *ProgressStore) write(p Progress, before []byte) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(s.path), ProgressFile+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // it is gone if all went well
	_, err = temporary.Write(append(text, '\n'))
	if err := errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	now, err := os.ReadFile(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, before) {
		return errChanged
	}
	return os.Rename(temporary.Name(), s.path)
}
