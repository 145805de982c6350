// Package report shows what a run measured: as text, as JSON, as a plot, and as a document.
package report

import (
	"encoding/json"
	"fmt"
	"io"

	"lockstep/bench/internal/contestants"
	"lockstep/bench/internal/result"
)

// JSON writes everything that was measured.
func JSON(w io.Writer, run result.Run, _ []contestants.Contestant) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(run); err != nil {
		return fmt.Errorf("JSON: %w", err)
	}
	return nil
}
