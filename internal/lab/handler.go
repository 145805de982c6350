package lab

import (
	"net/http"
	"unicode"
	"unicode/utf8"

	"lockstep/internal/api"
	"lockstep/internal/api/route"
	"lockstep/internal/api/sse"
	"lockstep/internal/language"
	"lockstep/internal/trace"
)

// Listed is a lab as it is listed.
type Listed struct {
	Name  string   `json:"name"`
	Title string   `json:"title"` // the trouble
	Claim string   `json:"claim"`
	Locks []string `json:"locks"` // the one with the flaw, if any has it, and the one that cures it
	Flaw  bool     `json:"flaw"`  // a step has it
	Cure  string   `json:"cure"`
	Diff  string   `json:"diff,omitempty"` // the command that shows the cure in the code
	Needs []string `json:"needs"`          // what not every place has; empty: it runs in a browser's tab, too
}

// List lists the labs on the running service.
func List(in language.Language) (all []Listed) {
	for _, l := range OnService() {
		claim, needs := sentence(l.Claim, in), []string{}
		first, size := utf8.DecodeRuneInString(claim)
		for _, need := range l.Needs {
			needs = append(needs, need.In(in))
		}
		all = append(all, Listed{
			l.Name, l.Title.In(in), string(unicode.ToUpper(first)) + claim[size:], l.Locks(), l.Shows != "", l.HowCured(in), l.Diff(), needs,
		})
	}
	return all
}

// Routes returns the route of the list.
func Routes() []route.Row {
	list := route.Value(func(r *http.Request) (all []Listed, err error) {
		in, err := api.Language(r)
		if err == nil {
			all = List(in)
		}
		return all, err
	})
	return []route.Row{route.On("GET", "/labs", route.Reader, route.Replica, route.Kept(list, route.ByQuery("lang")))}
}

// PlayedAt returns the route that runs labs at a place: each with the locks that it is about, one after the other. It answers with
// server-sent events.
func PlayedAt(place Place) []route.Row {
	return []route.Row{route.On("POST", "/labs/{name}", route.Participant, route.Tab, func(w http.ResponseWriter, r *http.Request) error {
		in, err := api.Language(r)
		if err != nil {
			return err
		}
		l, err := Find(r.PathValue("name"))
		if err == nil {
			err = l.FitsInto(place)
		}
		if err != nil {
			return api.BadRequest(err, "a lab of GET /labs")
		}
		stream := sse.NewWriter(w)
		l.playAll(r, place, in, func(event string, data any) { _ = stream.Send(event, data) }) // if the reader has gone, the request ends
		return nil
	})}
}

// playAll runs a lab, and sends what there is to tell: which lock begins, what has happened so far, and the story.
func (l Lab) playAll(r *http.Request, place Place, in language.Language, send func(event string, data any)) {
	for _, lock := range l.Locks() {
		send("begins", lock)
		result, err := l.Run(r.Context(), place, Play{
			Lock: lock, Redis: Embedded, In: in, Tell: func(t trace.Trace) { send("drawn", t) },
		})
		if err != nil {
			send("failed", explain(err, in))
			return
		}
		send("story", result.Story())
	}
}
