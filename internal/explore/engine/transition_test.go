package engine

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// ParseToken is the inverse of FormatToken for each kind.
func TestParseTokenReadsWhatFormatTokenWrites(t *testing.T) {
	actor := &Actor{Name: "A"}
	x := &Execution{tasks: []*Task{{taskState: taskState{role: "renewal", ordinal: 1, actor: actor}}}}
	x.processes, x.actors = []*Process{{Name: "replica1", actors: make([]*Actor, 1)}}, []*Actor{actor}
	for kind := Moves; kind < kindCount; kind++ {
		transition := Transition{Kind: kind}
		token := FormatToken(kind, x.Subject(transition).Name, "SET")
		got, err := ParseToken(token)
		want := ParsedToken{Kind: kind, Who: x.Subject(transition).Name}
		if kind.IsTaskStep() {
			want.Command = "SET"
		}
		if err != nil || !got.Matches(kind) || got.Who != want.Who || got.Command != want.Command {
			t.Errorf("ParseToken(%s) = %+v, %v; want %+v", token, got, err, want)
		}
	}
}

// Each example is a step, and each kind has an example.
func TestNotationHasEveryKind(t *testing.T) {
	var all []Kind
	for _, example := range Notation() {
		step, err := ParseToken(example)
		if err != nil {
			t.Error(err)
		}
		all = append(all, step.Kind)
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) != int(kindCount)-1 { // PollsOn has the notation of Moves
		t.Errorf("examples of the kinds %v; want all %d but PollsOn", all, kindCount)
	}
}

func TestParseTokenErrorListsNotation(t *testing.T) {
	for token, want := range map[string]string{
		"nonsense": "not a step: it takes A:SET, time, slow, expiry",
		":SET":     "not a step: it takes A:SET",
		"A:":       "not a step: it takes A:SET",
		"A:SET/what": "after SET, it takes /lost, /dies-before, /dies-after, /pauses-after, /lost-request, /late, /arrives, /never-arrives, " +
			"/resent, /unsynced, /unsaved, /node-clock-jumps, /node-crashes, /node-hangs, /node-restarts, not /what",
	} {
		if _, err := ParseToken(token); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseToken(%s): %v; want %q", token, err, want)
		}
	}
}
