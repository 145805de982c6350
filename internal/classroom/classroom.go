// Package classroom serves the course to browsers: the lessons as HTML ([Page]), and a session ([Session]) in which a class predicts
// together. In the HTTP API the session is called the room. Begin with [New].
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

// The errors of requests.
var (
	errNoLesson   = lock.WithCode("not_found", course.ErrNoLesson.Error())
	errBadRequest = lock.WithCode("bad_request", "bad request")
)

// Classroom serves the lessons, and one class session.
type Classroom struct {
	Addr   net.Addr                   // address at which the server listens; nil: unknown
	Client func(*http.Request) string // returns the client address of a request

	lessons func() (map[language.Language][]course.Lesson, error) // reads the lessons at the first call
	session Session
}

// New returns a classroom for the lessons in files. It reads them when the first lesson is requested.
func New(files fs.FS) *Classroom {
	c := &Classroom{Client: func(r *http.Request) string { return api.ClientAddress(r, false) }}
	c.session.NewID, c.session.Now = uuid.NewString, time.Now
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

// Routes returns the routes of the lessons (/course) and of the class session (/room, /join).
func (c *Classroom) Routes() []route.Row {
	value := route.Value[any]
	return []route.Row{
		route.On("GET", "/course", route.Reader, route.Replica, route.Cached(value(c.list), route.ByQuery("lang"))),
		route.On("GET", "/course/{lesson}", route.Reader, route.Replica, route.Cached(value(c.lesson), route.ByQuery("lang"))),
		route.On("GET", "/room", route.Reader, route.Front, value(c.state)),
		route.On("POST", "/room", route.Administrator, route.Front, value(func(*http.Request) (any, error) { return c.session.Open(), nil })),
		route.On("PUT", "/room", route.Administrator, route.Front, value(c.setLesson)),
		route.On("DELETE", "/room", route.Administrator, route.Front, value(func(*http.Request) (any, error) { return c.session.Close(), nil })),
		route.On("GET", "/room/{lesson}", route.Reader, route.Front, value(c.counts)),
		route.On("GET", "/room/join", route.Reader, route.Front, value(c.joinLinks)),
		route.On("POST", "/room/join", route.Participant, route.Front, value(func(r *http.Request) (any, error) {
			return c.session.Join(c.Client(r))
		})),
		route.On("DELETE", "/room/join", route.Participant, route.Front, value(func(r *http.Request) (any, error) {
			return c.session.Leave(r.FormValue("participant"))
		})),
		route.On("POST", "/room/answer", route.Participant, route.Front, value(c.answer)),
		route.On("GET", "/room/participants", route.Administrator, route.Front, value(c.participants)), // Only the teacher sees the addresses.
		route.On("DELETE", "/room/participants/{address}", route.Administrator, route.Front, value(func(r *http.Request) (any, error) {
			return c.session.Drop(r.PathValue("address"))
		})),
		route.On("GET", joinPath, route.Reader, route.Front, redirectToJoin),
	}
}

// participants handles GET /room/participants.
func (c *Classroom) participants(*http.Request) (any, error) {
	all, err := c.session.Participants()
	return struct {
		Participants []AddressCount `json:"participants"`
	}{all}, err
}

// Close closes the session.
func (c *Classroom) Close() { c.session.Close() }

// list handles GET /course.
func (c *Classroom) list(r *http.Request) (any, error) {
	in, err := api.Language(r)
	if err != nil {
		return nil, err
	}
	lessons, err := c.lessons()
	entries := []Entry{}
	for _, lesson := range lessons[in] {
		entries = append(entries, newEntry(lesson))
	}
	return struct {
		Lessons []Entry `json:"lessons"`
	}{entries}, err
}

// lesson handles GET /course/{lesson}.
func (c *Classroom) lesson(r *http.Request) (any, error) {
	in, err := api.Language(r)
	if err != nil {
		return nil, err
	}
	lesson, err := c.find(r.PathValue("lesson"), in)
	if err != nil {
		return nil, err
	}
	return newPage(lesson, in), nil
}

// find returns a lesson by its number in a URL, such as 3 or 03. It returns errNoLesson if there is none.
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

// counts handles GET /room/{lesson}.
func (c *Classroom) counts(r *http.Request) (any, error) {
	lesson, err := c.find(r.PathValue("lesson"), language.English)
	if err != nil {
		return nil, err
	}
	return c.session.Counts(lesson.Number, len(lesson.Choices))
}

// state handles GET /room. Once the answer of the current lesson is revealed, state adds the answer and the counts of the class's choices.
func (c *Classroom) state(r *http.Request) (any, error) {
	state, err := c.session.State(r.FormValue("participant"))
	if err != nil || !state.Revealed {
		return state, err
	}
	lesson, err := c.find(state.Lesson, language.English)
	if err != nil {
		return nil, err
	}
	counts, err := c.session.Counts(lesson.Number, len(lesson.Choices))
	state.Answer, state.Counts = lesson.Answer, counts.Counts
	return state, err
}

// answer handles POST /room/answer: it records the choice of a participant.
func (c *Classroom) answer(r *http.Request) (any, error) {
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
	return struct{}{}, c.session.Answer(body.Participant, lesson.Number, body.Choice)
}

// setLesson handles PUT /room: it sets the current lesson of the class.
func (c *Classroom) setLesson(r *http.Request) (any, error) {
	var current CurrentLesson
	if err := api.Read(r, &current); err != nil {
		return nil, fmt.Errorf(`%w: %w; want {"at":"03","revealed":false}`, errBadRequest, err)
	}
	lesson, err := c.find(current.Lesson, language.English)
	if err != nil {
		return nil, fmt.Errorf("%w: at: %w", errBadRequest, err)
	}
	current.Lesson = fmt.Sprintf("%02d", lesson.Number)
	return c.session.SetLesson(current)
}
