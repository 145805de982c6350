// Package workshop has the exercises, as their pages tell them: what each is about, which claim its lock has to meet, what is explored, and
// three hints. It builds what a learner has written, explores it, and says whether the claim is met; if it is not, by which shortest
// schedule.
//
// The learner's code is a package below exercises/. The program does not contain it, since a mistake there must not keep lockstep from
// being built. Checker builds a small program of that package and this one, and runs it: Answer is its main function.
package workshop

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/lock/strategy"
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

// judged returns the lock that a learner wrote, as the claim has it: whom it excludes is not the learner's to say, and when its sale writes
// only where that is the cure.
func (e Exercise) judged(s strategy.Strategy, in explore.Scenario) strategy.Strategy {
	update := strategy.ReadModifyWrite
	if e.Name == "late-commit" || e.Name == "without-a-lock" || e.Name == "sent-twice" {
		update = s.Update
	}
	made := s.New
	if e.Name == "endless-renewal" {
		made = func(p strategy.Parts) lock.Locker { return detached{s.New(p), p.Clock} }
	}
	return strategy.Strategy{Name: e.Name, OnNodes: in.Nodes > 0, Update: update, New: made}
}

// detached is a lock whose sales finish their work, whatever becomes of their request.
type detached struct {
	lock.Locker

	clock lock.Clock
}

// Lock implements lock.Locker.
func (d detached) Lock(ctx context.Context, owner string) (*lock.Lease, error) {
	lease, err := d.Locker.Lock(ctx, owner)
	return d.detach(lease), err
}

// TryLock implements lock.Locker.
func (d detached) TryLock(ctx context.Context, owner string) (*lock.Lease, error) {
	lease, err := d.Locker.TryLock(ctx, owner)
	return d.detach(lease), err
}

func (d detached) detach(l *lock.Lease) *lock.Lease {
	if l == nil {
		return nil
	}
	return lock.NewLease(context.WithoutCancel(l.Context()), d.clock, l.Token(), l.Unlock)
}

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

// Names lists the exercises by number and name.
func Names() (names []string) {
	for _, e := range All() {
		names = append(names, e.ID())
	}
	return names
}
