// Package report writes the results of a run as text, JSON, a plot and a Markdown document. Begin with Text and Markdown.
package report

import (
	"encoding/json"
	"fmt"
	"io"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
)

// JSON writes all results.
func JSON(w io.Writer, run result.Run, _ []contestants.Contestant) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(run); err != nil {
		return fmt.Errorf("writing JSON: %w", err)
	}
	return nil
}
