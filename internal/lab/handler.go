package lab

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"unicode"
	"unicode/utf8"

	"lockstep/internal/api"
	"lockstep/internal/api/route"
	"lockstep/internal/api/sse"
	"lockstep/internal/language"
	"lockstep/internal/trace"
)

// ListEntry describes a lab in the list of labs.
type ListEntry struct {
	Name  string   `json:"name"`
	Title string   `json:"title"` // common name of the problem
	Claim string   `json:"claim"`
	Locks []string `json:"locks"`          // lock with the flaw, then lock that cures it, as far as they exist
	Flaw  bool     `json:"flaw"`           // a lock with the flaw exists
	Cure  string   `json:"cure"`           // sentence about how the flaw is cured
	Diff  string   `json:"diff,omitempty"` // command that shows the cure in the code
	Needs []string `json:"needs"`          // requirements that not every environment meets; empty: the lab runs in a browser's tab, too
	Runs  string   `json:"runs"`           // clients that may run it on this server: "open": all; "token": those with the token; "no": none
	Tab   bool     `json:"tab"`            // this server has the page that runs the lab in a browser's tab
}

// List lists the labs on the running service.
func (r *Runner) List(in language.Language) (all []ListEntry) {
	tab := r.isInTab()
	for _, l := range OnService() {
		claim, needs := withFullStop(l.Claim, in), []string{}
		first, size := utf8.DecodeRuneInString(claim)
		for _, need := range l.Needs {
			needs = append(needs, need.In(in))
		}
		runs := cmp.Or(r.Rights, "no")
		if l.CheckNeeds(r.Environment) != nil {
			runs = "no"
		}
		all = append(all, ListEntry{
			l.Name, l.Title.In(in), string(unicode.ToUpper(first)) + claim[size:], l.Locks(), l.Shows != "", l.HowCured(in), l.Diff(), needs,
			runs, tab && len(needs) == 0,
		})
	}
	return all
}

// Routes returns the route of the list, and the route that runs a lab with each of its locks in turn. The response to a run is a stream of
// server-sent events.
func (r *Runner) Routes() []route.Row {
	list := route.Value(func(q *http.Request) (all []ListEntry, err error) {
		in, err := api.Language(q)
		if err == nil {
			all = r.List(in)
		}
		return all, err
	})
	byLanguage := route.ByQuery("lang")
	key := func(q *http.Request) (string, bool) {
		name, constant := byLanguage(q)
		return fmt.Sprint(name, r.isInTab()), constant
	}
	var play route.Handler
	if r.Environment.NewReplicas != nil {
		play = r.play
	}
	return []route.Row{
		route.On("GET", "/labs", route.Reader, route.Front, route.Cached(list, key)),
		route.On("POST", "/labs/{name}", route.Administrator, route.Front, play),
	}
}

// play runs a lab, and streams the run to the client.
func (r *Runner) play(w http.ResponseWriter, q *http.Request) error {
	in, err := api.Language(q)
	if err != nil {
		return err
	}
	l, err := Find(q.PathValue("name"))
	if err == nil {
		err = l.CheckNeeds(r.Environment)
	}
	if err != nil {
		return api.BadRequest(err, "a lab of GET /labs")
	}
	ctx, leave, err := r.enter(q.Context(), l.Name, api.ClientAddress(q, false), in)
	if err != nil {
		return err
	}
	defer leave()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stream := sse.NewWriter(w)
	r.playAll(ctx, l, in, func(event string, data any) {
		if stream.Send(event, data) != nil {
			stop() // The client has left.
		}
	})
	return nil
}

// maxDrawnBytes bounds the total size of the drawings that are sent during a run. The story event at the end has the last drawing in any
// case.
const maxDrawnBytes = 2 << 20

// playAll runs a lab with each of its locks in turn. For each lock it sends the name, drawings of the events so far, and the presentation
// of the result.
func (r *Runner) playAll(ctx context.Context, l Lab, in language.Language, send func(event string, data any)) {
	run, drawn := r.Run, 0
	if run == nil {
		run = func(ctx context.Context, l Lab, options RunOptions) (Result, error) {
			return l.Run(ctx, r.Environment, options)
		}
	}
	sendDrawing := func(t trace.Trace) {
		data, err := json.Marshal(t)
		if drawn += len(data); err == nil && drawn <= maxDrawnBytes {
			send("drawn", json.RawMessage(data))
		}
	}
	for _, lock := range l.Locks() {
		send("begins", lock)
		result, err := run(ctx, l, RunOptions{Lock: lock, Redis: Embedded, In: in, OnProgress: sendDrawing})
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			send("failed", errorText(err, in))
			return
		}
		send("story", result.Present())
	}
}
