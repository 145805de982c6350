package dao

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"lockstep/internal/lock/rediserr"
	"lockstep/internal/service"
	"lockstep/util/lua"
)

// Beat renews this replica's place among the living, forgets the dead ones, and tells and asks what there is to know, in one script. Time
// is Redis's own.
func (s *Store) Beat(ctx context.Context, tells service.Replica) (service.State, error) {
	text, err := json.Marshal(tells)
	if err != nil {
		return service.State{}, fmt.Errorf("the heartbeat: %w", err)
	}
	_, state, _, err := s.look(ctx, text, tells.Run)
	return state, err
}

// Look asks as Beat does, and tells nothing.
func (s *Store) Look(ctx context.Context) (service.State, error) {
	_, state, _, err := s.look(ctx, nil, "")
	return state, err
}

// look sends beat.lua. It also returns the fields of the run, and what stockIn reads.
func (s *Store) look(ctx context.Context, tells []byte, runID string) (fields map[string]string, state service.State, stock []any, err error) {
	newest, _ := OrdersKeys(runID)
	answer, err := s.eval(ctx, lua.Beat, runID, []string{replicasKey, RunKey, newest, BarrierKey, InventoryKey},
		s.instance, tells, service.Lifetime.Milliseconds(), keepSeconds)
	if err != nil {
		return nil, state, nil, err
	}
	reply, _ := answer.([]any) // a script of ours
	fields = pairs(reply[0])
	state = service.State{Change: fmt.Sprint(reply[1]), Others: map[string]service.Replica{}}
	if state.Run, err = parseRun(fields); err != nil {
		return nil, service.State{}, nil, err
	}
	for instance, told := range pairs(reply[2]) {
		other, until := parseReplica(told)
		other.Told = until.Add(-service.Lifetime)
		state.Others[instance] = other
	}
	return fields, state, reply[3:], nil
}

// Call asks the other replicas to beat at once. One that does not hear it beats a second later at most.
func (s *Store) Call(ctx context.Context) error {
	return rediserr.Classify(ctx, "PUBLISH "+callChannel, s.client.Publish(ctx, callChannel, "").Err())
}

// OnCall calls back whenever a replica has called.
func (s *Store) OnCall(back func()) (stop func()) {
	if s.Calls == nil {
		return func() {}
	}
	return s.Calls.Subscribe(callChannel, func(string) { back() })
}

// pairs makes a map of an array of names, each with its value.
func pairs(reply any) map[string]string {
	all := map[string]string{}
	words, _ := reply.([]any) // a script of ours
	for i := 0; i+1 < len(words); i += 2 {
		all[fmt.Sprint(words[i])] = fmt.Sprint(words[i+1])
	}
	return all
}

// parseReplica reads what a replica told, and when it counts as dead. What cannot be read is of one that is dead.
func parseReplica(told string) (replica service.Replica, until time.Time) {
	at, text, _ := strings.Cut(told, " ")
	ms, err := strconv.ParseInt(at, 10, 64)
	if err != nil || json.Unmarshal([]byte(text), &replica) != nil {
		return service.Replica{}, time.Time{}
	}
	return replica, time.UnixMilli(ms)
}
