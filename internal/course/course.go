// Package course parses the lessons of docs/course ([Lessons]), and teaches them in a terminal ([Pupil]). A lesson is a Markdown file with
// a fixed structure: people can read the file as it is, and the program can ask the lesson's question before it shows the answer.
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

// Lesson is one lesson: an idea, a question, the command that answers it, and the reason. Its texts are Markdown.
type Lesson struct {
	Number   int       // 1-based position in the course
	Name     string    // file name without number, language and extension
	File     string    // file name
	Title    string    // text of the heading, without the number
	Idea     string    // text before the first section
	Opening  []Part    // Idea as parts for a page
	Sections []Section // indexed by Predict, Run, …
	Choices  []string  // choices of the question in Predict
	Answer   int       // 1-based right choice
	Run      string    // arguments of this program that answer the question
	Seen     string    // output of that command
	Link     string    // fragment of the page's URL that opens the schedule in the scheduler's seat: #/schedule/…
}

// Section is a heading of a lesson and what follows it.
type Section struct {
	Heading string
	Text    string // Markdown
	Parts   []Part // Text as parts for a page, without links to the page; nil for See, whose output is in the parts of Run
}

// The indexes of the sections in Lesson.Sections. Their texts leave out the choices (Predict), the number of the answer (Explain) and the
// link to the next lesson (Broken).
const (
	Predict = iota // the question
	Run            // the command that answers it
	See            // the command's output
	Explain        // the reason
	Seat           // the schedule in the scheduler's seat
	Try            // further experiments
	Broken         // what is still broken
)

// The errors of this package.
var (
	// ErrForm is returned for a lesson that does not have the required structure.
	ErrForm = errors.New("a lesson does not have the required structure")
	// ErrNoLesson is returned for a lesson number that does not exist.
	ErrNoLesson = errors.New("there is no such lesson")
)

// filePattern matches the file name of a lesson. Its groups are the number, the name, and the suffix of the language; "": English.
var filePattern = regexp.MustCompile(`^(\d\d)-([a-z0-9-]+)(\.zh-CN)?\.md$`)

// Lessons parses the lessons in a language, in their order. It ignores files whose names do not begin with a number.
func Lessons(files fs.FS, in language.Language) (lessons []Lesson, err error) {
	entries, err := fs.ReadDir(files, ".") // ReadDir sorts by name, which begins with the number.
	if err != nil {
		return nil, fmt.Errorf("reading the course: %w", err)
	}
	for _, entry := range entries {
		parts := filePattern.FindStringSubmatch(entry.Name())
		if parts == nil || (parts[3] != "") != (in == language.Chinese) {
			continue
		}
		text, err := fs.ReadFile(files, path.Clean(entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading the course: %w", err)
		}
		lesson, err := parse(string(text), in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		if number, _ := strconv.Atoi(parts[1]); number != len(lessons)+1 || number != lesson.Number {
			return nil, fmt.Errorf("%s: %w: it is lesson %d by its title, and %d by its place among the files",
				entry.Name(), ErrForm, lesson.Number, len(lessons)+1)
		}
		lesson.Name, lesson.File = parts[2], entry.Name()
		lessons = append(lessons, lesson)
	}
	return lessons, nil
}
