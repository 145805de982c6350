// Package doctor says what a machine lacks for a workshop, what each thing is for, and how to get it.
package doctor

import (
	"context"
	"runtime"
	"slices"

	"lockstep/internal/language"
)

// State is how a thing is found.
type State string

// The states. What is Optional is not there, and not needed for the lessons.
const (
	Fine     State = "ok"
	Missing  State = "missing"
	Optional State = "optional"
	Unknown  State = "unknown"
)

// Finding is one thing, in words.
type Finding struct {
	Name  string `json:"name"`
	State State  `json:"state"`
	Found string `json:"found"`         // what is there
	For   string `json:"for"`           // what it is for
	Get   string `json:"get,omitempty"` // how to get it, if it is not there
}

// Machine is what the doctor asks. Its functions are fields, so that a test can be any machine.
type Machine struct {
	OS       string // as runtime.GOOS
	Dir      string // where the commands are typed, as an absolute path
	Cache    string // where the compiler writes
	LookPath func(program string) (path string, err error)
	// Output runs a program in Dir, with these variables beside the environment, and gives what it prints, also to standard error.
	Output    func(ctx context.Context, env []string, program string, args ...string) (string, error)
	Listen    func(addr string) error                        // whether one can
	Probe     func(ctx context.Context, target string) error // nil: a lockstep answers at a base URL
	OpenFiles func() (limit int, limited bool)
	Buyers    func(limit int) int // at once, of a server that may open so many files
	FreeBytes func(dir string) (free uint64, err error)
	Server    string // where the server would listen
	Redis     string // where the embedded Redis would listen
	// Eviction gives the policy by which the configured Redis evicts keys, "" if it evicts none.
	Eviction func(ctx context.Context) (policy string, err error)
}

// check is one thing that is looked for.
type check struct {
	name string
	why  language.Text
	look func(ctx context.Context, m Machine) result
}

// result is what was found. The way to get a thing depends on the system.
type result struct {
	state State
	found language.Text
	get   language.Text
}

// Examine looks for everything, in order.
func (m Machine) Examine(ctx context.Context, in language.Language) (findings []Finding) {
	for _, c := range checks() {
		r := c.look(ctx, m)
		f := Finding{Name: c.name, State: r.state, Found: r.found.In(in), For: c.why.In(in)}
		if r.state != Fine {
			f.Get = r.get.In(in)
		}
		findings = append(findings, f)
	}
	return findings
}

// Ready reports whether nothing that is needed is missing.
func Ready(findings []Finding) bool {
	return !slices.ContainsFunc(findings, func(f Finding) bool { return f.State == Missing })
}

// both is short for language.Both; same returns a text that needs no translation.
func both(english, chinese string) language.Text { return language.Both(english, chinese) }
func same(text string) language.Text             { return language.Both(text, text) }

// on chooses by the system: how a thing is got on Linux, macOS and Windows.
func (m Machine) on(linux, mac, windows string) language.Text {
	switch m.OS {
	case "darwin":
		return same(mac)
	case "windows":
		return same(windows)
	default:
		return same(linux)
	}
}

// ThisSystem is the system that this program runs on.
const ThisSystem = runtime.GOOS
