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

	"lockstep/internal/language"
)

// ProgressFile is the name of the file with the progress.
const ProgressFile = ".lockstep-course.json"

// Progress is what a learner has done. It is stored in a file beside go.mod, which git ignores. A beginner has the zero Progress.
type Progress struct {
	Done        map[string]bool   `json:"done,omitempty"`           // exercises done, by ID
	Hints       map[string]int    `json:"hints,omitempty"`          // number of hints given, by ID of the exercise
	Asked       map[string]int    `json:"solution_asked,omitempty"` // number of requests for the solution, by ID of the exercise
	Predictions map[string]string `json:"predictions,omitempty"`    // number of the choice, by name of the lesson; "0": skipped
}

// ErrUnreadable is returned if the progress file exists but is not valid. Such a file is never overwritten.
var ErrUnreadable = language.Translate(errors.New("not a valid progress file; repair it, or delete it to start over"),
	"不能当作进度读取；请修好它，或删除它重新开始")

// errChanged is returned if another program has written the progress file since it was read.
var errChanged = language.Translate(errors.New("another program keeps changing it"), "别的程序一直在修改它")

// ProgressStore reads and writes the progress file. It may be used by several goroutines. If another program changes the file during an
// update, ProgressStore detects and keeps that change.
type ProgressStore struct {
	path string     // path of the file
	mu   sync.Mutex // serializes the use of the file
}

// ProgressIn returns the store in dir, the directory of go.mod.
func ProgressIn(dir string) *ProgressStore {
	return &ProgressStore{path: filepath.Join(dir, ProgressFile)}
}

// Load reads the progress. If there is no file, it returns an empty Progress.
func (s *ProgressStore) Load() (Progress, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, _, err := s.read()
	return p, err
}

// maxUpdateAttempts is the largest number of attempts of Update. Other programs rarely write the file, so more than two are unusual.
const maxUpdateAttempts = 10

// Update changes the progress by the function change, and saves it. It may call change several times, each time with the current content
// of the file.
func (s *ProgressStore) Update(change func(*Progress)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range maxUpdateAttempts {
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

// read returns the progress, in which no map is nil, and the text of the file.
func (s *ProgressStore) read() (Progress, []byte, error) {
	var p Progress
	text, err := os.ReadFile(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return Progress{}, nil, fmt.Errorf("%s: %w: %w", s.path, ErrUnreadable, err)
	default:
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields() // An unknown field is from a newer lockstep, and would be lost by writing.
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

// write replaces the file atomically. It returns errChanged if the file no longer has the text before.
func (s *ProgressStore) write(p Progress, before []byte) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(s.path), ProgressFile+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temporary.Name()) }() // The error is expected after a successful rename.
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
