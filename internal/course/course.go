// Package course has the lessons of docs/course as values. A lesson is a Markdown file of a fixed form, so that people read it as it is,
// and the program can ask its question before it shows the answer.
package course

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"

	"lockstep/internal/language"
)

// Lesson is one idea: a question, the command that answers it, and why. The texts are Markdown.
type Lesson struct {
	Number   int
	Name     string // of its file, without number, language and ending
	File     string
	Title    string
	Idea     string
	Opening  []Part    // the idea's
	Sections []Section // one at each of the places below
	Choices  []string  // of Predict
	Answer   int       // the right choice, counted from 1
	Run      string    // the command, as the arguments of this program
	Seen     string    // what the command prints
	Link     string    // of the schedule, in the scheduler's seat: a fragment, #/schedule/…
}

// Section is what stands under a heading of a lesson. Its parts are for a page: without the sentence that leads to the page, and without
// the output of See, which is with the command of Run.
type Section struct {
	Heading, Text string
	Parts         []Part
}

// The places of the sections. Predict is without the choices, Explain without the answer, Broken without the link to the next lesson.
const (
	Predict = iota
	Run
	See
	Explain
	Seat
	Try
	Broken
)

// The errors of this package.
var (
	ErrForm     = errors.New("a lesson is not of the form that it has to have")
	ErrNoLesson = errors.New("there is no such lesson")
)

var fileName = regexp.MustCompile(`^(\d\d)-([a-z0-9-]+)(\.zh-CN)?\.md$`)

// Lessons reads the lessons in a language, in their order. Files whose names do not begin with a number are none.
func Lessons(files fs.FS, in language.Language) (lessons []Lesson, err error) {
	entries, err := fs.ReadDir(files, ".") // by name, so by number
	if err != nil {
		return nil, fmt.Errorf("read the course: %w", err)
	}
	for _, entry := range entries {
		parts := fileName.FindStringSubmatch(entry.Name())
		if parts == nil || (parts[3] != "") != (in == language.Chinese) {
			continue
		}
		text, err := fs.ReadFile(files, path.Clean(entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("read the course: %w", err)
		}
		lesson, err := parse(string(text), in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		if number, _ := strconv.Atoi(parts[1]); number != len(lessons)+1 || number != lesson.Number {
			return nil, fmt.Errorf("%s: %w: it is lesson %d by its title, and the %dth of the files",
				entry.Name(), ErrForm, lesson.Number, len(lessons)+1)
		}
		lesson.Name, lesson.File = parts[2], entry.Name()
		lessons = append(lessons, lesson)
	}
	return lessons, nil
}
