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
	maxPairsPerKind = 10      // of a kind of findings
	maxDrawnBytes   = 8 << 20 // bytes
)

// finding is of whom a finding tells, or a turn of the story.
type finding struct {
	Kind  string
	Sales []string
	Bad   bool
}

// drawPairs returns what the two sales of each turn of the story, and of each finding, did, command by command, by their names with a space
// between them: of findings, of the latest of each kind. Draw gives one of them; nil if it is not known any more.
func drawPairs(frames []Frame, draw func(a, b string) json.RawMessage) map[string]json.RawMessage {
	pairs, kinds, size := map[string]json.RawMessage{}, map[string]int{}, 0
	for _, finding := range slices.Concat(lastStory(frames), findings(frames)) {
		if len(finding.Sales) != 2 {
			continue
		}
		if name := finding.Sales[0] + " " + finding.Sales[1]; pairs[name] == nil && kinds[finding.Kind] < maxPairsPerKind && size < maxDrawnBytes {
			if trace := draw(finding.Sales[0], finding.Sales[1]); trace != nil {
				pairs[name] = trace
				kinds[finding.Kind]++
				size += len(trace)
			}
		}
	}
	return pairs
}

// lastStory are those of the story that is told last.
func lastStory(frames []Frame) []finding {
	for _, frame := range slices.Backward(frames) {
		var story struct{ Turns []finding }
		if frame.Name == "story" && json.Unmarshal(frame.Data, &story) == nil {
			return story.Turns
		}
	}
	return nil
}

// findings are what went wrong, the latest first.
func findings(frames []Frame) (all []finding) {
	for _, frame := range slices.Backward(frames) {
		var finding finding
		if frame.Name == "finding" && json.Unmarshal(frame.Data, &finding) == nil && finding.Bad {
			all = append(all, finding)
		}
	}
	return all
}
