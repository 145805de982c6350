package seat

import (
	"crypto/sha256"
	"encoding/base64"
	"net/url"
	"strings"

	"lockstep/internal/trace"
)

// Link returns the address of a place within the page: the scenario is what lockstep explore takes, and the schedule what --replay takes.
func Link(lock, scenario, schedule, code string) string {
	link := "#/schedule/" + lock
	mark := "?"
	for _, part := range [][2]string{{"in", scenario}, {"do", schedule}, {"code", code}} {
		if part[1] != "" {
			link += mark + part[0] + "=" + readable(part[1])
			mark = "&"
		}
	}
	return link
}

// readable escapes what has to be in a query, and leaves a schedule as it is read.
func readable(text string) string {
	return strings.NewReplacer("%3A", ":", "%2F", "/", "%2C", ",", "%3D", "=").Replace(url.QueryEscape(text))
}

// signs is how many signs of a code are for one step: 12 bits.
const signs = 2

// Code returns a fingerprint of what the steps of a trace do: their commands, replies and kinds, but no words. Two signs stand for each
// step and all before it, so two codes tell the step from which on they differ.
func Code(t trace.Trace) string {
	var code strings.Builder
	var all [sha256.Size]byte
	for _, step := range t.Steps {
		text := strings.Join([]string{string(all[:]), step.Token, step.Kind, step.Command, step.Reply}, "\x00")
		all = sha256.Sum256([]byte(text))
		code.WriteString(base64.RawURLEncoding.EncodeToString(all[:])[:signs])
	}
	return code.String()
}

// differs returns the step from which on two codes differ, counted from 1; 0: none, as far as both go.
func differs(a, b string) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i/signs + 1
		}
	}
	return 0
}
