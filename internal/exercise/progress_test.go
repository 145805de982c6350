package exercise_test

import (
	"errors"
	"fmt"
	"lockstep/internal/exercise"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestProgressIsSavedAndLoaded(t *testing.T) {
	dir := t.TempDir()
	if p, err := exercise.ProgressIn(dir).Load(); err != nil || len(p.Done)+len(p.Hints)+len(p.Asked)+len(p.Predictions) > 0 {
		t.Fatalf("before anything was done: %+v, %v", p, err)
	}
	err := exercise.ProgressIn(dir).Update(func(p *exercise.Progress) {
		p.Done["01-expiry"] = true
		p.Hints["02-foreign-delete"]++
		p.Asked["03-check-then-delete"]++
		p.Predictions["01/oversell"] = "b"
	})
	if err != nil {
		t.Fatal(err)
	}
	p, err := exercise.ProgressIn(dir).Load()
	if err != nil || !p.Done["01-expiry"] || p.Hints["02-foreign-delete"] != 1 || p.Asked["03-check-then-delete"] != 1 ||
		p.Predictions["01/oversell"] != "b" {
		t.Errorf("%+v, %v", p, err)
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("files %v; want only the progress file", files)
	}
}

func TestInvalidProgressFileIsNotOverwritten(t *testing.T) {
	for _, text := range []string{"", "{", `{"done": 1}`, `{"of a newer lockstep": {}}`} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, exercise.ProgressFile)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := exercise.ProgressIn(dir).Load()
			update := exercise.ProgressIn(dir).Update(func(p *exercise.Progress) { p.Done["01-expiry"] = true })
			for _, err := range []error{err, update} {
				if !errors.Is(err, exercise.ErrUnreadable) || !strings.Contains(err.Error(), file) {
					t.Errorf("got %v; want ErrUnreadable, and the name of the file", err)
				}
			}
			if after, _ := os.ReadFile(file); string(after) != text {
				t.Errorf("%q was overwritten by %q", text, after)
			}
		})
	}
}

func TestConcurrentUpdatesAreAllKept(t *testing.T) {
	store := exercise.ProgressIn(t.TempDir())
	var all sync.WaitGroup
	const n = 20
	for i := range n {
		all.Go(func() {
			if err := store.Update(func(p *exercise.Progress) { p.Done[strconv.Itoa(i)] = true }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if p, err := store.Load(); err != nil || len(p.Done) != n {
		t.Errorf("%d of %d are there, %v", len(p.Done), n, err)
	}
}

// A change that another program writes between reading and writing is kept.
func TestUpdateKeepsChangeOfOtherProgram(t *testing.T) {
	dir := t.TempDir()
	tries := 0
	err := exercise.ProgressIn(dir).Update(func(p *exercise.Progress) {
		if tries++; tries == 1 {
			if err := exercise.ProgressIn(dir).Update(func(p *exercise.Progress) { p.Done["theirs"] = true }); err != nil {
				t.Error(err)
			}
		}
		p.Done["ours"] = true
	})
	if p, _ := exercise.ProgressIn(dir).Load(); err != nil || tries != 2 || !p.Done["ours"] || !p.Done["theirs"] {
		t.Errorf("%+v after %d tries, %v", p, tries, err)
	}
}
