package exercise

import (
	"context"
	"encoding/json"
	"os"

	"lockstep/internal/language"
	"lockstep/internal/strategy"
)

// Answer is what the small program does that Checker builds: it explores the learner's lock, and writes the outcome to a file. Standard
// output is the learner's.
func Answer(exercise string, s strategy.Strategy, in language.Language, file string) error {
	e, err := Find(exercise)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), longestExploration)
	defer stop()
	text, err := json.Marshal(e.Explore(ctx, s, in))
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
