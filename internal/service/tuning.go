package service

import (
	"context"

	"lockstep/internal/service/history"
)

// Tune starts a new run whose sales are tuned so in every replica, with the lock and the initial stock of the last one. The runs after it
// are, too, until the configuration of a replica changes, or all replicas have ended.
func (s *Shop) Tune(ctx context.Context, tuning history.Tuning) error {
	return s.change(ctx, func(_ context.Context, _, next history.Run) (history.Run, error) {
		next.Tuning = tuning
		return next, nil
	})
}

// InForce returns what the sales of the current run are made with.
func (s *Shop) InForce(ctx context.Context) (history.Settings, error) {
	state, err := s.Ledger.Look(ctx)
	return s.SettingsOf(state.Run), err
}

// SettingsOf returns what the sales of a run are made with here.
func (s *Shop) SettingsOf(run history.Run) history.Settings { return s.current().Tuned(run.Tuning) }
