package seat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockstep/internal/explore"
	"lockstep/internal/lock"
	"lockstep/internal/lock/anomaly"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/lock/strategy"
)

// ErrUnsolved is that of a schedule that does not break a lock as its level asks.
var ErrUnsolved = lock.WithCode("bad_request", "this does not solve the level")

// Level asks a reader to break a lock in as few steps as possible. The scenario is that of the table.
type Level struct {
	Anomaly    explore.Anomaly `json:"anomaly"` // "": none is shown in any scenario of the table
	In         string          `json:"in"`      // the scenario, as flags
	Steps      int             `json:"steps"`   // of the shortest schedule
	KeepsStock bool            `json:"keeps_stock"`
}

// levelOf gives the level of a lock; nil, as long as its row of the table is not known.
func (s *Seat) levelOf(lock string) *Level {
	row, ok := s.rows.Get(lock)
	if !ok {
		return nil
	}
	level := Level{KeepsStock: true}
	for _, cell := range row.Cells {
		shown := explore.Anomaly(cell.Anomaly)
		if shown == anomaly.LostUpdate || shown == anomaly.DoubleSale {
			level.KeepsStock = level.KeepsStock && cell.Answer == "never"
		}
		if cell.Answer == "broken" && (level.Steps == 0 || shown == firstOf(lock)) {
			level.Anomaly, level.Steps = shown, cell.Steps
			level.In, _ = cell.where()
		}
	}
	return &level
}

// Solve gives the number of steps in which a client's schedule solves the level of a lock; otherwise it fails. It waits for a turn.
func (s *Seat) Solve(ctx context.Context, client, name, schedule string) (steps int, err error) {
	of, err := evolution.Find(name)
	if err != nil {
		return 0, err
	}
	level := s.levelOf(of.Name)
	if level == nil || level.Anomaly == "" {
		return 0, fmt.Errorf("%w: %s has none", ErrUnsolved, of.Name)
	}
	if steps := len(strings.Fields(schedule)); steps > mostSteps {
		return 0, fmt.Errorf("%w: it has %d steps; the seat takes %d", ErrUnsolved, steps, mostSteps)
	}
	var shown []explore.Shown
	err = s.run(ctx, client, func(ctx context.Context) (err error) {
		shown, err = level.shown(ctx, of, schedule)
		return err
	})
	switch {
	case errors.Is(err, ErrBusy) || errors.Is(err, ErrLeft):
		return 0, err
	case err != nil:
		return 0, fmt.Errorf("%w: %w", ErrUnsolved, err)
	}
	at := slices.IndexFunc(shown, func(a explore.Shown) bool { return a.Anomaly == level.Anomaly })
	if at < 0 {
		return 0, fmt.Errorf("%w: it does not show %s", ErrUnsolved, level.Anomaly)
	}
	return shown[at].Step, nil
}

func (l *Level) shown(ctx context.Context, of strategy.Strategy, schedule string) ([]explore.Shown, error) {
	in, err := explore.ParseScenario(l.In)
	if err != nil {
		return nil, err
	}
	replayed, err := explore.ReplayWithContext(ctx, of, in, schedule)
	return replayed.Shown, err
}
