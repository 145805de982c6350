package load

import (
	"encoding/json"
	"slices"
)

// Frame is one event of GET /live.
type Frame struct {
	Name string          `json:"name"`
	Data json.RawMessage `json:"data"`
}

// The bounds of what is kept of pairs.
const (
	mostPairs = 10      // of a kind of findings
	mostDrawn = 8 << 20 // bytes
)

// Pairs returns what the two sales of each finding did, command by command, by their names with a space between them: of the latest of
// each kind. Draw gives one of them; nil if it is not known any more.
func Pairs(frames []Frame, draw func(a, b string) json.RawMessage) map[string]json.RawMessage {
	pairs, kinds, size := map[string]json.RawMessage{}, map[string]int{}, 0
	for _, frame := range slices.Backward(frames) {
		var finding struct {
			Kind  string
			Sales []string
			Bad   bool
		}
		if frame.Name != "finding" || json.Unmarshal(frame.Data, &finding) != nil || !finding.Bad || len(finding.Sales) != 2 {
			continue
		}
		if name := finding.Sales[0] + " " + finding.Sales[1]; pairs[name] == nil && kinds[finding.Kind] < mostPairs && size < mostDrawn {
			if trace := draw(finding.Sales[0], finding.Sales[1]); trace != nil {
				pairs[name] = trace
				kinds[finding.Kind]++
				size += len(trace)
			}
		}
	}
	return pairs
}
