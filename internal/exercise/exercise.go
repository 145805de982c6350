// Package exercise checks the exercises. It reads them from their pages ([All]): the story, the claim that the lock has to meet, the
// scenarios to explore, and three hints. It builds a learner's code, explores it, and reports whether the claim is met; if not, it returns
// the shortest schedule that breaks it. Begin with [Learner].
//
// The learner's code is a package below exercises/. It is not a part of this program, because a mistake there must not keep lockstep from
// being built. [Checker] builds a small program from that package and this one, and runs it: [Answer] is its main function.
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

// Exercise is a lock with one flaw, which the learner has to remove.
type Exercise struct {
	Number int    // 1-based position in the course
	Name   string // name of its directory, without the number

	Title language.Text
	Story language.Text   // situation in which the flaw does harm
	Claim language.Text   // property that the lock must have
	Hints []language.Text // HintsEach hints, each more explicit than the one before

	Explorations []Exploration // explorations of the check, in order
}

// HintsEach is the number of hints of each exercise.
const HintsEach = 3

// Exploration is one exploration of a check: a scenario, and the anomalies that must not occur in it.
type Exploration struct {
	Scenario  explore.Scenario  // scenario to explore
	Anomalies []explore.Anomaly // anomalies that must not occur
}

// formatNumber formats the number of an exercise as in the names of directories: 05.
func formatNumber(n int) string { return fmt.Sprintf("%02d", n) }

// ID returns the exercise's number and name, which is also the name of its directory: 05-nested.
func (e Exercise) ID() string { return formatNumber(e.Number) + "-" + e.Name }

// Dir returns the path of the exercise's directory from the root of the module.
func (e Exercise) Dir() string { return "exercises/" + e.ID() }

// ErrUnknown is returned for an exercise that does not exist.
var ErrUnknown = errors.New("there is no such exercise")

// numberPattern matches a number or a directory of an exercise. Its group is the number.
var numberPattern = regexp.MustCompile(`^(?:\./)?(?:exercises/)?(\d+)(?:-[^/]*)?/?$`)

// Find returns an exercise by its number (5 or 05), its name (nested) or its directory. It returns ErrUnknown if there is none.
func Find(key string) (Exercise, error) {
	all := All()
	if match := numberPattern.FindStringSubmatch(strings.ReplaceAll(key, `\`, "/")); match != nil {
		if n, err := strconv.Atoi(match[1]); err == nil && n >= 1 && n <= len(all) {
			return all[n-1], nil
		}
	}
	if i := slices.IndexFunc(all, func(e Exercise) bool { return e.Name == key }); i >= 0 {
		return all[i], nil
	}
	return Exercise{}, language.Translate(fmt.Errorf("%w: %q; there are %s to %s", ErrUnknown, key, formatNumber(1), formatNumber(len(all))),
		"没有“%s”这个练习；可选：%s 到 %s", key, formatNumber(1), formatNumber(len(all)))
}

// IDs returns the IDs of the exercises, in order.
func IDs() (ids []string) {
	for _, e := range All() {
		ids = append(ids, e.ID())
	}
	return ids
}

// Names returns the names of the exercises, in order.
func Names() (names []string) {
	for _, e := range All() {
		names = append(names, e.Name)
	}
	return names
}
