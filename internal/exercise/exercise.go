// Package exercise has the exercises, as their pages tell them: what each is about, which claim its lock has to meet, what is explored, and
// three hints. It builds what a learner has written, explores it, and says whether the claim is met; if it is not, by which shortest
// schedule.
//
// The learner's code is a package below exercises/. The program does not contain it, since a mistake there must not keep lockstep from
// being built. Checker builds a small program of that package and this one, and runs it: Answer is its main function.
package exercise

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/language"
)

// Exercise is one lock with one flaw.
type Exercise struct {
	Number int
	Name   string // of its directory, after the number

	Title language.Text
	Story language.Text
	Claim language.Text   // what the lock has to meet
	Hints []language.Text // HintsEach of them, each telling more than the one before

	Looks []Look // what is explored, one after the other
}

// HintsEach is how many hints an exercise has.
const HintsEach = 3

// Look is one exploration: in which scenario no anomaly of these may show.
type Look struct {
	Scenario  explore.Scenario
	Anomalies []explore.Anomaly
}

// Number as people type it, and as directories begin.
func number(n int) string { return fmt.Sprintf("%02d", n) }

// ID returns the exercise's number and name, as its directory is called.
func (e Exercise) ID() string { return number(e.Number) + "-" + e.Name }

// Dir returns the exercise's directory, from the root of the module.
func (e Exercise) Dir() string { return "exercises/" + e.ID() }

// ErrUnknown means that there is no such exercise.
var ErrUnknown = errors.New("there is no such exercise")

var inDir = regexp.MustCompile(`^(?:\./)?(?:exercises/)?(\d+)(?:-[^/]*)?/?$`)

// Find returns the exercise of a number, as 5 or 05, of a name, as nested, or of a directory.
func Find(named string) (Exercise, error) {
	all := All()
	if match := inDir.FindStringSubmatch(strings.ReplaceAll(named, `\`, "/")); match != nil {
		if n, err := strconv.Atoi(match[1]); err == nil && n >= 1 && n <= len(all) {
			return all[n-1], nil
		}
	}
	if i := slices.IndexFunc(all, func(e Exercise) bool { return e.Name == named }); i >= 0 {
		return all[i], nil
	}
	return Exercise{}, fmt.Errorf("%w: %q; there are %s to %s", ErrUnknown, named, number(1), number(len(all)))
}

// IDs lists the exercises by number and name.
func IDs() (ids []string) {
	for _, e := range All() {
		ids = append(ids, e.ID())
	}
	return ids
}

// Names lists the exercises by name.
func Names() (names []string) {
	for _, e := range All() {
		names = append(names, e.Name)
	}
	return names
}
