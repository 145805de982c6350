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
	all, err := s.look(ctx, text, tells.Run)
	return all.State, err
}

// Look asks as Beat does, and tells nothing.
func (s *Store) Look(ctx context.Context) (service.State, error) {
	all, err := s.look(ctx, nil, "")
	return all.State, err
}

// looked is what beat.lua answers.
type looked struct {
	service.State

	fields map[string]string // of the run
	stock  []any             // as stockIn reads it
}

// look sends beat.lua.
func (s *Store) look(ctx context.Context, tells []byte, runID string) (all looked, err error) {
	newest, _ := OrdersKeys(runID)
	answer, err := s.eval(ctx, lua.Beat, runID, []string{replicasKey, RunKey, newest, BarrierKey, InventoryKey},
		s.instance, tells, service.Lifetime.Milliseconds(), keepSeconds)
	if err != nil {
		return looked{}, err
	}
	reply, _ := answer.([]any) // a script of ours
	all = looked{fields: pairs(reply[0]), stock: reply[4:]}
	if all.Run, err = parseRun(all.fields); err != nil {
		return looked{}, err
	}
	all.Change, all.Others = fmt.Sprint(reply[1]), map[string]service.Replica{}
	for _, text := range pairs(reply[3]) {
		other, until := parseReplica(text)
		other.Told = until.Add(-service.Lifetime)
		all.Future = append(all.Future, other)
	}
	for instance, told := range pairs(reply[2]) {
		other, until := parseReplica(told)
		other.Told = until.Add(-service.Lifetime)
		all.Others[instance] = other
	}
	return all, nil
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
