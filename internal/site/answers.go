package site

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"lockstep/internal/language"
)

// answer asks for whatever is answered always alike, in each language, and adds the answers to the files.
func (s Site) answer(ctx context.Context, files map[string][]byte) error {
	api, err := s.fetch(ctx, "/openapi.json")
	if err != nil {
		return err
	}
	files["openapi.json"] = api
	for _, in := range language.All() {
		asked := map[string][]byte{}
		ask := func(path string) (answer []byte, err error) {
			answer, err = s.fetch(ctx, path+"?lang="+string(in))
			asked[path+".json"] = answer
			return answer, err
		}
		if asked["/seat/table.txt"], err = s.fetch(ctx, "/seat/table?lang="+string(in)); err != nil { // first: levels are of it
			return err
		}
		if err := all(ask); err != nil {
			return err
		}
		var index struct{ Locks []struct{ Name string } }
		if err := json.Unmarshal(asked["/seat.json"], &index); err != nil {
			return fmt.Errorf("GET /seat: %w", err)
		}
		for _, lock := range index.Locks {
			if asked["/seat/code/"+lock.Name+".json"], err = s.fetch(ctx, "/seat/code?lock="+lock.Name); err != nil {
				return err
			}
		}
		for path, answer := range asked {
			files["still/"+string(in)+path] = answer
		}
	}
	return nil
}

// all asks for the lists, and for whatever they list.
func all(ask func(path string) ([]byte, error)) error {
	for _, path := range []string{"/seat", "/labs"} {
		if _, err := ask(path); err != nil {
			return err
		}
	}
	var steps []struct{ From, To string }
	var course struct{ Lessons []struct{ Number int } }
	for path, into := range map[string]any{"/seat/steps": &steps, "/course": &course} {
		list, err := ask(path)
		if err == nil {
			err = json.Unmarshal(list, into)
		}
		if err != nil {
			return fmt.Errorf("GET %s: %w", path, err)
		}
	}
	for _, step := range steps {
		if _, err := ask("/seat/steps/" + step.From + "-" + step.To); err != nil {
			return err
		}
	}
	for _, lesson := range course.Lessons {
		if _, err := ask(fmt.Sprintf("/course/%02d", lesson.Number)); err != nil {
			return err
		}
	}
	return nil
}

func (s Site) fetch(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	w := writer{header: http.Header{}, status: http.StatusOK}
	s.Answers.ServeHTTP(&w, request)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if w.status != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %d %s", path, w.status, w.body.Bytes())
	}
	return w.body.Bytes(), nil
}

// writer keeps an answer.
type writer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *writer) Header() http.Header                { return w.header }
func (w *writer) WriteHeader(status int)             { w.status = status }
func (w *writer) Write(text []byte) (n int, _ error) { return w.body.Write(text) }
