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
	mux.HandleFunc("GET /course", c.list)
	mux.HandleFunc("GET /course/{lesson}", c.lesson)
	mux.HandleFunc("GET /room", func(w http.ResponseWriter, _ *http.Request) { api.Answer(w, c.room.State(), nil) })
	mux.HandleFunc("POST /room", func(w http.ResponseWriter, _ *http.Request) { api.Answer(w, c.room.Open(), nil) })
	mux.HandleFunc("DELETE /room", func(w http.ResponseWriter, _ *http.Request) {
		c.room.Close()
		api.Answer(w, c.room.State(), nil)
	})
	mux.HandleFunc("GET /room/{lesson}", c.counts)
	mux.HandleFunc("POST /room/answer", c.predict)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { api.Answer(w, nil, errNothing) })
	return mux
}

// Close ends the room.
func (c *Classroom) Close() { c.room.Close() }

func (c *Classroom) list(w http.ResponseWriter, r *http.Request) {
	lessons, err := c.lessons()
	if err != nil {
		api.Answer(w, nil, err)
		return
	}
	entries := []Entry{}
	for _, lesson := range lessons[language.Named(r.FormValue("lang"))] {
		entries = append(entries, entryOf(lesson))
	}
	api.Answer(w, struct {
		Lessons []Entry `json:"lessons"`
	}{entries}, nil)
}

func (c *Classroom) lesson(w http.ResponseWriter, r *http.Request) {
	lesson, err := c.find(r.PathValue("lesson"), language.Named(r.FormValue("lang")))
	if err != nil {
		api.Answer(w, nil, err)
		return
	}
	api.Answer(w, pageOf(lesson, language.Named(r.FormValue("lang"))), nil)
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

func (c *Classroom) counts(w http.ResponseWriter, r *http.Request) {
	lesson, err := c.find(r.PathValue("lesson"), language.English)
	if err != nil {
		api.Answer(w, nil, err)
		return
	}
	counts, err := c.room.Counts(lesson.Number, len(lesson.Choices))
	api.Answer(w, counts, err)
}

// predict takes what a participant predicts.
func (c *Classroom) predict(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Participant string `json:"participant"`
		Lesson      int    `json:"lesson"`
		Choice      int    `json:"choice"`
	}
	if err := api.Read(r, &body); err != nil {
		api.Answer(w, nil, fmt.Errorf(`%w: %w; want {"participant":"0123456789abcdef","lesson":3,"choice":1}`, errBadRequest, err))
		return
	}
	lesson, err := c.find(strconv.Itoa(body.Lesson), language.English)
	switch {
	case err != nil:
		err = fmt.Errorf("%w: lesson: %w", errBadRequest, err)
	case body.Choice < 1 || body.Choice > len(lesson.Choices):
		err = fmt.Errorf("%w: choice: %d is not allowed; want 1 to %d", errBadRequest, body.Choice, len(lesson.Choices))
	default:
		err = c.room.Answer(body.Participant, lesson.Number, body.Choice)
	}
	api.Answer(w, struct{}{}, err)
}
