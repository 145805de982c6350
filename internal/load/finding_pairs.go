package load

import (
	"encoding/json"
	"slices"
)

// Frame is one event of the stream GET /live.
type Frame struct {
	Name string          `json:"name"` // kind of the event, such as tally or story
	Data json.RawMessage `json:"data"`
}

// Limits of the drawings that are kept.
const (
	maxPairsPerKind = 10      // drawings for one kind of finding
	maxDrawnBytes   = 8 << 20 // total size of the drawings
)

// finding has the fields of a finding, or of a moment of a story, that drawPairs needs.
type finding struct {
	Kind  string
	Sales []string
	Bad   bool // the finding is a flaw
}

// drawPairs draws the commands of pairs of sales, with draw. It draws each pair that a moment of the last story in frames names, and then
// the pairs of the latest findings, a few for each kind. The keys are the names of both sales, with a space between them. draw returns nil
// if the server has forgotten the sales.
func drawPairs(frames []Frame, draw func(a, b string) json.RawMessage) map[string]json.RawMessage {
	pairs := map[string]json.RawMessage{}
	drawings := map[string]int{} // kind of finding → number of its drawings
	size := 0
	for _, finding := range slices.Concat(lastStory(frames), findings(frames)) {
		if len(finding.Sales) != 2 {
			continue
		}
		a, b := finding.Sales[0], finding.Sales[1]
		name := a + " " + b
		if pairs[name] != nil || drawings[finding.Kind] >= maxPairsPerKind || size >= maxDrawnBytes {
			continue
		}
		if trace := draw(a, b); trace != nil {
			pairs[name] = trace
			drawings[finding.Kind]++
			size += len(trace)
		}
	}
	return pairs
}

// lastStory returns the moments of the last story.
func lastStory(frames []Frame) []finding {
	for _, frame := range slices.Backward(frames) {
		var story struct{ Turns []finding }
		if frame.Name == "story" && json.Unmarshal(frame.Data, &story) == nil {
			return story.Turns
		}
	}
	return nil
}

// findings returns the findings of a flaw, the latest first.
func findings(frames []Frame) (all []finding) {
	for _, frame := range slices.Backward(frames) {
		var finding finding
		if frame.Name == "finding" && json.Unmarshal(frame.Data, &finding) == nil && finding.Bad {
			all = append(all, finding)
		}
	}
	return all
}
