package site

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"lockstep/internal/language"
)

// addAnswers adds the responses that never change to the files, in each language.
func (s Site) addAnswers(ctx context.Context, files map[string][]byte) error {
	api, err := s.fetch(ctx, "/openapi.json")
	if err != nil {
		return err
	}
	files["openapi.json"] = api
	for _, in := range language.All() {
		answers := map[string][]byte{}
		get := func(path string) (answer []byte, err error) {
			answer, err = s.fetch(ctx, path+"?lang="+string(in))
			answers[path+".json"] = answer
			return answer, err
		}
		// The levels need the table, so it is fetched first.
		if answers["/seat/table.txt"], err = s.fetch(ctx, "/seat/table?lang="+string(in)); err != nil {
			return err
		}
		if err := getAll(get); err != nil {
			return err
		}
		var index struct{ Locks []struct{ Name string } }
		if err := json.Unmarshal(answers["/seat.json"], &index); err != nil {
			return fmt.Errorf("GET /seat: %w", err)
		}
		for _, lock := range index.Locks {
			if answers["/seat/code/"+lock.Name+".json"], err = s.fetch(ctx, "/seat/code?lock="+lock.Name); err != nil {
				return err
			}
		}
		for path, answer := range answers {
			files["still/"+string(in)+path] = answer
		}
	}
	return nil
}

// getAll gets the lists, and the entries that they list.
func getAll(get func(path string) ([]byte, error)) error {
	for _, path := range []string{"/seat", "/labs"} {
		if _, err := get(path); err != nil {
			return err
		}
	}
	var steps []struct{ From, To string }
	var course struct{ Lessons []struct{ Number int } }
	for path, into := range map[string]any{"/seat/steps": &steps, "/course": &course} {
		list, err := get(path)
		if err == nil {
			err = json.Unmarshal(list, into)
		}
		if err != nil {
			return fmt.Errorf("GET %s: %w", path, err)
		}
	}
	for _, step := range steps {
		if _, err := get("/seat/steps/" + step.From + "-" + step.To); err != nil {
			return err
		}
	}
	for _, lesson := range course.Lessons {
		if _, err := get(fmt.Sprintf("/course/%02d", lesson.Number)); err != nil {
			return err
		}
	}
	return nil
}

// fetch returns the body of the response to GET path. It fails unless the status is 200.
func (s Site) fetch(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	w := recorder{header: http.Header{}, status: http.StatusOK}
	s.Answers.ServeHTTP(&w, request)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if w.status != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %d %s", path, w.status, w.body.Bytes())
	}
	return w.body.Bytes(), nil
}

// recorder is an http.ResponseWriter that keeps the response.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) { w.status = status }

// Write implements http.ResponseWriter.
func (w *recorder) Write(text []byte) (n int, _ error) { return w.body.Write(text) }
