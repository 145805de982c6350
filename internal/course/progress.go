package course

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ProgressFile is where a learner's progress is kept, in the directory of the clone.
const ProgressFile = ".lockstep-course.json"

// Skipped is the choice of a learner who has made none.
const Skipped = 0

// Progress is which lessons a learner has been through, and what was predicted. Beside the lessons, its file keeps what others wrote there.
type Progress struct {
	file   string
	kept   map[string]json.RawMessage
	chosen map[string]int // by the lesson's name
}

// lessonsKey is what the file calls the lessons.
const lessonsKey = "lessons"

// OpenProgress reads a file of progress. One that is not there yet is that of a beginner.
func OpenProgress(file string) (*Progress, error) {
	p := &Progress{file: file, kept: map[string]json.RawMessage{}, chosen: map[string]int{}}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p, nil
	case err != nil:
		return nil, fmt.Errorf("read your progress: %w", err)
	}
	err = json.Unmarshal(text, &p.kept)
	if lessons := p.kept[lessonsKey]; err == nil && lessons != nil {
		err = json.Unmarshal(lessons, &p.chosen)
	}
	if err != nil || p.kept == nil || p.chosen == nil {
		return nil, fmt.Errorf("%s is not as lockstep wrote it (%w): delete it, or start again with --reset", file, err)
	}
	return p, nil
}

// Chosen gives what was predicted in a lesson, or Skipped; done is false if the learner has not been through it.
func (p *Progress) Chosen(lesson string) (choice int, done bool) {
	choice, done = p.chosen[lesson]
	return choice, done
}

// Done notes a lesson, and what was predicted in it.
func (p *Progress) Done(lesson string, choice int) error {
	p.chosen[lesson] = choice
	return p.save()
}

// Reset forgets all lessons of a file, whatever is in it.
func Reset(file string) error {
	p, err := OpenProgress(file)
	if err != nil {
		p = &Progress{file: file, kept: map[string]json.RawMessage{}}
	}
	p.chosen = map[string]int{}
	return p.save()
}

// save replaces the file in one step, so that a learner who interrupts it loses nothing.
func (p *Progress) save() error {
	lessons, err := json.Marshal(p.chosen)
	if err != nil {
		return err
	}
	p.kept[lessonsKey] = lessons
	text, err := json.MarshalIndent(p.kept, "", "  ")
	if err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(p.file), ProgressFile+".*")
	if err != nil {
		return fmt.Errorf("keep your progress: %w", err)
	}
	_, err = draft.Write(append(text, '\n'))
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Rename(draft.Name(), p.file)
	}
	if err != nil {
		return fmt.Errorf("keep your progress: %w", errors.Join(err, os.Remove(draft.Name())))
	}
	return nil
}
