// Package classroom serves the course to browsers: the lessons as HTML, and the room, where a class predicts together.
package classroom

import (
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"sync"

	"lockstep/internal/language"
	"lockstep/internal/learn/course"
	"lockstep/internal/lock"
	"lockstep/internal/shop/api"
)

var (
	errNothing    = lock.WithCode("not_found", "there is nothing here, or not with this method")
	errNoLesson   = lock.WithCode("not_found", course.ErrNoLesson.Error())
	errBadRequest = lock.WithCode("bad_request", "bad request")
)

// Classroom serves the lessons, and one room.
type Classroom struct {
	lessons func() (map[language.Language][]course.Lesson, error)
	room    Room
}

// New makes a classroom of the course's files. It reads them when the first lesson is asked for.
func New(files fs.FS) *Classroom {
	return &Classroom{lessons: sync.OnceValues(func() (map[language.Language][]course.Lesson, error) {
		all := map[language.Language][]course.Lesson{}
		for _, in := range language.All() {
			lessons, err := course.Lessons(files, in)
			if err != nil {
				return nil, err
			}
			all[in] = lessons
		}
		return all, nil
	})}
}

// Handler serves /course and /room. Requests have passed the guard.
func (c *Classroom) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(*http.Request) (any, error){
		"GET /course":          c.list,
		"GET /course/{lesson}": c.lesson,
		"GET /room":            func(*http.Request) (any, error) { return c.room.State(), nil },
		"POST /room":           func(*http.Request) (any, error) { return c.room.Open(), nil },
		"DELETE /room":         func(*http.Request) (any, error) { return c.room.Close(), nil },
		"GET /room/{lesson}":   c.counts,
		"POST /room/answer":    c.predict,
		"/":                    func(*http.Request) (any, error) { return nil, errNothing },
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			value, err := answer(r)
			api.Answer(w, value, err)
		})
	}
	return mux
}

// Close ends the room.
func (c *Classroom) Close() { c.room.Close() }

func (c *Classroom) list(r *http.Request) (any, error) {
	lessons, err := c.lessons()
	entries := []Entry{}
	for _, lesson := range lessons[language.Named(r.FormValue("lang"))] {
		entries = append(entries, entryOf(lesson))
	}
	return struct {
		Lessons []Entry `json:"lessons"`
	}{entries}, err
}

func (c *Classroom) lesson(r *http.Request) (any, error) {
	in := language.Named(r.FormValue("lang"))
	lesson, err := c.find(r.PathValue("lesson"), in)
	if err != nil {
		return nil, err
	}
	return pageOf(lesson, in), nil
}

// find returns a lesson by its number as it stands in an address: 3 or 03.
func (c *Classroom) find(number string, in language.Language) (course.Lesson, error) {
	lessons, err := c.lessons()
	if err != nil {
		return course.Lesson{}, err
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(lessons[in]) {
		return course.Lesson{}, fmt.Errorf("lesson %.20q: %w; want 1 to %d", number, errNoLesson, len(lessons[in]))
	}
	return lessons[in][n-1], nil
}

func (c *Classroom) counts(r *http.Request) (any, error) {
	lesson, err := c.find(r.PathValue("lesson"), language.English)
	if err != nil {
		return nil, err
	}
	return c.room.Counts(lesson.Number, len(lesson.Choices))
}

// predict takes what a participant predicts.
func (c *Classroom) predict(r *http.Request) (any, error) {
	var body struct {
		Participant string `json:"participant"`
		Lesson      int    `json:"lesson"`
		Choice      int    `json:"choice"`
	}
	if err := api.Read(r, &body); err != nil {
		return nil, fmt.Errorf(`%w: %w; want {"participant":"0123456789abcdef","lesson":3,"choice":1}`, errBadRequest, err)
	}
	lesson, err := c.find(strconv.Itoa(body.Lesson), language.English)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: lesson: %w", errBadRequest, err)
	case body.Choice < 1 || body.Choice > len(lesson.Choices):
		return nil, fmt.Errorf("%w: choice: %d is not allowed; want 1 to %d", errBadRequest, body.Choice, len(lesson.Choices))
	}
	return struct{}{}, c.room.Answer(body.Participant, lesson.Number, body.Choice)
}
