package exercise

import (
	"context"
	"encoding/json"
	"os"

	"lockstep/internal/language"
	"lockstep/internal/strategy"
)

// Answer is the main function of the program that Checker builds. It explores the learner's lock s, and writes the Outcome as JSON to a
// file: the learner's code may write to standard output.
func Answer(exercise string, s strategy.Strategy, in language.Language, file string) error {
	e, err := Find(exercise)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), explorationTime)
	defer stop()
	text, err := json.Marshal(e.Explore(ctx, s, in))
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
