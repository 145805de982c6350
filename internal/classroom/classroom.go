// Package classroom serves the course to browsers: the lessons as HTML, and the room, where a class predicts together.
package classroom

import (
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"lockstep/internal/api"
	"lockstep/internal/api/route"
	"lockstep/internal/course"
	"lockstep/internal/language"
	"lockstep/internal/lock"
)

var (
	errNoLesson   = lock.WithCode("not_found", course.ErrNoLesson.Error())
	errBadRequest = lock.WithCode("bad_request", "bad request")
)

// Classroom serves the lessons, and one room.
type Classroom struct {
	Addr   net.Addr                   // at which it is served
	Client func(*http.Request) string // the address that a request comes from

	lessons func() (map[language.Language][]course.Lesson, error)
	room    Room
}

// New makes a classroom of the course's files. It reads them when the first lesson is asked for.
func New(files fs.FS) *Classroom {
	c := &Classroom{Client: func(r *http.Request) string { return api.Client(r, false) }}
	c.room.NewID, c.room.Now = uuid.NewString, time.Now
	c.lessons = sync.OnceValues(func() (map[language.Language][]course.Lesson, error) {
		all := map[language.Language][]course.Lesson{}
		for _, in := range language.All() {
			lessons, err := course.Lessons(files, in)
			if err != nil {
				return nil, err
			}
			all[in] = lessons
		}
		return all, nil
	})
	return c
}

// Routes returns the routes of the lessons and of the room.
func (c *Classroom) Routes() []route.Row {
	value := route.Value[any]
	return []route.Row{
		route.On("GET", "/course", route.Reader, route.Replica, route.Cached(value(c.list), route.ByQuery("lang"))),
		route.On("GET", "/course/{lesson}", route.Reader, route.Replica, route.Cached(value(c.lesson), route.ByQuery("lang"))),
		route.On("GET", "/room", route.Reader, route.Front, value(c.state)),
		route.On("POST", "/room", route.Administrator, route.Front, value(func(*http.Request) (any, error) { return c.room.Open(), nil })),
		route.On("PUT", "/room", route.Administrator, route.Front, value(c.turn)),
		route.On("DELETE", "/room", route.Administrator, route.Front, value(func(*http.Request) (any, error) { return c.room.Close(), nil })),
		route.On("GET", "/room/{lesson}", route.Reader, route.Front, value(c.counts)),
		route.On("GET", "/room/join", route.Reader, route.Front, value(c.doors)),
		route.On("POST", "/room/join", route.Participant, route.Front, value(func(r *http.Request) (any, error) {
			return c.room.Join(c.Client(r))
		})),
		route.On("DELETE", "/room/join", route.Participant, route.Front, value(func(r *http.Request) (any, error) {
			return c.room.Leave(r.FormValue("participant"))
		})),
		route.On("POST", "/room/answer", route.Participant, route.Front, value(c.predict)),
		route.On("GET", "/room/participants", route.Administrator, route.Front, value(c.participants)), // who they are is for who teaches
		route.On("DELETE", "/room/participants/{address}", route.Administrator, route.Front, value(func(r *http.Request) (any, error) {
			return c.room.Drop(r.PathValue("address"))
		})),
		route.On("GET", joinPath, route.Reader, route.Front, join),
	}
}

func (c *Classroom) participants(*http.Request) (any, error) {
	all, err := c.room.Participants()
	return struct {
		Participants []Participants `json:"participants"`
	}{all}, err
}

// Close ends the room.
func (c *Classroom) Close() { c.room.Close() }

func (c *Classroom) list(r *http.Request) (any, error) {
	in, err := api.Language(r)
	if err != nil {
		return nil, err
	}
	lessons, err := c.lessons()
	entries := []Entry{}
	for _, lesson := range lessons[in] {
		entries = append(entries, entryOf(lesson))
	}
	return struct {
		Lessons []Entry `json:"lessons"`
	}{entries}, err
}

func (c *Classroom) lesson(r *http.Request) (any, error) {
	in, err := api.Language(r)
	if err != nil {
		return nil, err
	}
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
	if err != nil || n < 1 || n > len(lessons[in]) || len(number) > 2 {
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

// state says where the class is; of an answer that is revealed, how the class answered, too.
func (c *Classroom) state(r *http.Request) (any, error) {
	state, err := c.room.State(r.FormValue("participant"))
	if err != nil || !state.Revealed {
		return state, err
	}
	lesson, err := c.find(state.At, language.English)
	if err != nil {
		return nil, err
	}
	counts, err := c.room.Counts(lesson.Number, len(lesson.Choices))
	state.Answer, state.Counts = lesson.Answer, counts.Counts
	return state, err
}

// predict takes what a participant predicts.
func (c *Classroom) predict(r *http.Request) (any, error) {
	var body struct {
		Participant string `json:"participant"`
		Lesson      int    `json:"lesson"`
		Choice      int    `json:"choice"`
	}
	if err := api.Read(r, &body); err != nil {
		return nil, fmt.Errorf(`%w: %w; want {"participant":"of POST /room/join","lesson":3,"choice":1}`, errBadRequest, err)
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

// turn takes what the class is at.
func (c *Classroom) turn(r *http.Request) (any, error) {
	var on On
	if err := api.Read(r, &on); err != nil {
		return nil, fmt.Errorf(`%w: %w; want {"at":"03","revealed":false}`, errBadRequest, err)
	}
	lesson, err := c.find(on.At, language.English)
	if err != nil {
		return nil, fmt.Errorf("%w: at: %w", errBadRequest, err)
	}
	on.At = fmt.Sprintf("%02d", lesson.Number)
	return c.room.Turn(on)
}
