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

// Beat refreshes this replica's heartbeat, drops expired replicas, and exchanges state with the others, in one script. Times are by the
// clock of Redis.
func (s *Store) Beat(ctx context.Context, replica service.Replica) (service.State, error) {
	text, err := json.Marshal(replica)
	if err != nil {
		return service.State{}, fmt.Errorf("sending the heartbeat: %w", err)
	}
	reply, err := s.runBeat(ctx, text, replica.Run)
	return reply.State, err
}

// ReadState returns the same state as Beat without sending a heartbeat.
func (s *Store) ReadState(ctx context.Context) (service.State, error) {
	reply, err := s.runBeat(ctx, nil, "")
	return reply.State, err
}

// beatReply is the parsed reply of beat.lua.
type beatReply struct {
	service.State

	fields map[string]string // fields of the run's hash
	stock  []any             // input of parseStockReply
}

// runBeat executes beat.lua: it sends a heartbeat with replicaJSON and reads the shared state; with nil it only reads. The orders of run
// runID are kept for keepOrdersSeconds more.
func (s *Store) runBeat(ctx context.Context, replicaJSON []byte, runID string) (reply beatReply, err error) {
	newest, _ := OrdersKeys(runID)
	answer, err := s.eval(ctx, lua.Beat, runID, []string{replicasKey, RunKey, newest, BarrierKey, InventoryKey},
		s.instance, replicaJSON, service.ReplicaLifetime.Milliseconds(), keepOrdersSeconds)
	if err != nil {
		return beatReply{}, err
	}
	values, _ := answer.([]any) // The script always returns an array.
	reply = beatReply{fields: pairsToMap(values[0]), stock: values[4:]}
	if reply.Run, err = parseRun(reply.fields); err != nil {
		return beatReply{}, err
	}
	reply.Change, reply.Others = fmt.Sprint(values[1]), map[string]service.Replica{}
	for _, text := range pairsToMap(values[3]) {
		other, expiresAt := parseReplica(text)
		other.LastBeat = expiresAt.Add(-service.ReplicaLifetime)
		reply.Future = append(reply.Future, other)
	}
	for instance, text := range pairsToMap(values[2]) {
		other, expiresAt := parseReplica(text)
		other.LastBeat = expiresAt.Add(-service.ReplicaLifetime)
		reply.Others[instance] = other
	}
	return reply, nil
}

// RequestHeartbeats asks the other replicas for an immediate heartbeat. A replica that misses the message sends its next heartbeat within a
// second.
func (s *Store) RequestHeartbeats(ctx context.Context) error {
	return rediserr.Classify(ctx, "PUBLISH "+heartbeatRequestChannel, s.client.Publish(ctx, heartbeatRequestChannel, "").Err())
}

// OnHeartbeatRequest calls onRequest after each request of another replica for a heartbeat, until stop is called.
func (s *Store) OnHeartbeatRequest(onRequest func()) (stop func()) {
	if s.HeartbeatRequests == nil {
		return func() {}
	}
	return s.HeartbeatRequests.Subscribe(heartbeatRequestChannel, func(string) { onRequest() })
}

// pairsToMap turns a flat array of names and values, as HGETALL returns it, into a map.
func pairsToMap(reply any) map[string]string {
	fields := map[string]string{}
	values, _ := reply.([]any) // The scripts always return an array here.
	for i := 0; i+1 < len(values); i += 2 {
		fields[fmt.Sprint(values[i])] = fmt.Sprint(values[i+1])
	}
	return fields
}

// parseReplica parses a replica's heartbeat: its expiry, in ms by the clock of Redis, and the service.Replica as JSON. Of a malformed
// heartbeat it returns zero values, which have expired.
func parseReplica(text string) (replica service.Replica, expiresAt time.Time) {
	millis, fields, _ := strings.Cut(text, " ")
	ms, err := strconv.ParseInt(millis, 10, 64)
	if err != nil || json.Unmarshal([]byte(fields), &replica) != nil {
		return service.Replica{}, time.Time{}
	}
	return replica, time.UnixMilli(ms)
}
