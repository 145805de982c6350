// Package search looks at all schedules of a few processes under a library, shortest first, until a budget of runs is used up.
package search

import (
	"errors"
	"slices"
	"time"

	"lockstep/internal/explore/anomaly"

	"lockstep/museum/internal/library"
	"lockstep/museum/internal/play"
)

// Result is what a search found.
type Result struct {
	Runs     int
	States   int
	Depth    int // all schedules of so many steps were run
	Complete bool
	Odd      int // runs that did not repeat: what followed them was left out
	Took     time.Duration
	Found    []Finding
}

// Finding is the shortest schedule that shows an anomaly.
type Finding struct {
	anomaly.Found
	Schedule []string
}

// Goal says what a search is for.
type Goal struct {
	Runs      int               // at most
	Anomalies []anomaly.Anomaly // to look for; it ends when each was found
	Prefix    []string          // that all schedules begin with
}

type search struct {
	stage    *play.Stage
	library  library.Library
	scenario play.Scenario
	goal     Goal
	seen     map[play.Fingerprint]struct{}
	result   Result
}

// node is a state, by the schedule that first led to it.
type node struct {
	schedule []string
	print    play.Fingerprint
}

// Do searches, breadth first. A state that was seen is not gone on from.
func Do(stage *play.Stage, l library.Library, in play.Scenario, goal Goal) (Result, error) {
	s := &search{stage: stage, library: l, scenario: in, goal: goal, seen: map[play.Fingerprint]struct{}{}}
	began := time.Now()
	level := []node{{schedule: goal.Prefix}}
	var err error
	for len(level) > 0 && !s.over() {
		if level, err = s.expand(level); err != nil {
			break
		}
		if !s.over() {
			s.result.Depth++
		}
	}
	s.result.Complete = len(level) == 0 && !s.exhausted()
	s.result.Took = time.Since(began)
	return s.result, err
}

func (s *search) exhausted() bool { return s.result.Runs >= s.goal.Runs }

func (s *search) over() bool {
	return s.exhausted() || len(s.result.Found) == len(s.goal.Anomalies)
}

// expand takes each step that is possible after each of these nodes.
func (s *search) expand(level []node) (next []node, _ error) {
	for _, n := range level {
		for i := 0; !s.over(); i++ {
			child, more, err := s.child(n, i)
			if err != nil {
				return nil, err
			}
			if child != nil {
				next = append(next, *child)
			}
			if !more {
				break
			}
		}
	}
	return next, nil
}

// child takes the step with this index after a node. It gives nil if that leads to a state that was seen.
func (s *search) child(n node, i int) (child *node, more bool, err error) {
	var steps []string
	schedule := n.schedule
	leaked, err := s.stage.Play(s.library, s.scenario, n.schedule, func(r *play.Run) error {
		if steps = r.Steps(); i >= len(steps) {
			return nil
		}
		if len(n.schedule) > len(s.goal.Prefix) && r.Fingerprint() != n.print {
			return play.ErrStale
		}
		schedule = append(slices.Clip(n.schedule), steps[i])
		if err := r.Do(steps[i]); err != nil {
			return err
		}
		print := r.Fingerprint()
		if _, known := s.seen[print]; !known {
			s.seen[print] = struct{}{}
			s.result.States++
			child = &node{schedule, print}
		}
		found, err := r.Check()
		s.note(found, schedule)
		return err
	})
	s.result.Runs++
	if errors.Is(err, play.ErrStale) {
		s.result.Odd++
		return nil, false, nil
	}
	if leaked {
		s.note([]anomaly.Found{{Anomaly: anomaly.GoroutineLeak, Says: "a goroutine is left when all clients are closed"}}, schedule)
	}
	return child, i+1 < len(steps), err
}

// note keeps what was found, if it was to be looked for and nothing shorter shows it.
func (s *search) note(found []anomaly.Found, schedule []string) {
	for _, f := range found {
		known := slices.ContainsFunc(s.result.Found, func(k Finding) bool { return k.Anomaly == f.Anomaly })
		if !known && slices.Contains(s.goal.Anomalies, f.Anomaly) {
			s.result.Found = append(s.result.Found, Finding{f, schedule})
		}
	}
}
