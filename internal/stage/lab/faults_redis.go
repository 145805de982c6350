package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/internal/dao/redisclient"
	"lockstep/internal/stage/redisproxy"
	"lockstep/internal/watch/witness"
)

// Faults of a Redis itself. A node is counted from 1; 0 is the Redis with the stock.

// synced is how long a replica may take to have what its master has.
const synced = 10 * time.Second

// nobodyThere is a port of loopback at which no Redis listens.
const nobodyThere = "1"

// Restart restarts a Redis without what it held.
func (s *Stage) Restart(node int) {
	s.hit(node, witness.KindEmptied, func() error { return s.server(node).Restart(s.ctx) })
}

// Crash kills a Redis for good.
func (s *Stage) Crash(node int) { s.hit(node, witness.KindCrashes, s.server(node).Kill) }

// Lag keeps from Redis's replica whatever comes from now on. What came before it has.
func (s *Stage) Lag() {
	s.hit(0, witness.KindLags, func() error {
		if err := s.sync(); err != nil {
			return err
		}
		host, _ := s.redis.spare.words()
		return s.tellSpare("REPLICAOF", host, nobodyThere)
	})
}

// FailOver kills Redis, and lets the replica take its place, at the address by which the shop reaches Redis.
func (s *Stage) FailOver() {
	s.hit(0, witness.KindFailsOver, func() error {
		if err := s.redis.Kill(); err != nil {
			return err
		}
		if err := s.tellSpare("REPLICAOF", "NO", "ONE"); err != nil {
			return err
		}
		for _, proxy := range s.proxies {
			proxy.PointAt(s.redis.spare.Addr())
		}
		return nil
	})
}

// CutNode cuts a replica off from one node.
func (s *Stage) CutNode(replica string, node int) {
	if s.err == nil {
		s.noteOn(replica, node, witness.KindCut)
		s.toNodes[replica][node-1].Cut()
	}
}

// CatchOn sets a trap between a replica and a Redis.
func (s *Stage) CatchOn(replica string, node int, fate redisproxy.Fate, matches func(args []string) bool) *redisproxy.Trap {
	if node == 0 {
		return s.Catch(replica, fate, matches)
	}
	return s.toNodes[replica][node-1].Catch(matches, fate)
}

// hit does something to a Redis, and notes it: nobody there can.
func (s *Stage) hit(node int, kind witness.Kind, do func() error) {
	if s.err != nil {
		return
	}
	at := time.Now() // what comes to it after that is not lost
	if err := do(); err != nil {
		s.err = fmt.Errorf("a Redis that %s: %w", kind, err)
		return
	}
	s.collected.See(witness.Event{Kind: kind, Node: node, Sent: at, Replied: at})
}

func (s *Stage) server(node int) master {
	if node == 0 {
		return s.redis.master
	}
	return s.redis.nodes[node-1]
}

// sync waits until Redis's replica has what Redis has.
func (s *Stage) sync() (err error) {
	client := redisclient.Single(redisclient.Config{Addrs: []string{s.redis.Addr()}})
	defer func() { err = errors.Join(err, client.Close()) }()
	connection := client.Conn() // WAIT is about what came by the same one
	defer func() { err = errors.Join(err, connection.Close()) }()
	if err := connection.Do(s.ctx, "PUBLISH", "lab", "").Err(); err != nil {
		return err
	}
	replicas, err := connection.Wait(s.ctx, 1, synced).Result()
	if err == nil && replicas == 0 {
		err = errTooLong
	}
	return err
}

// tellSpare sends Redis's replica a command.
func (s *Stage) tellSpare(command ...any) (err error) {
	client := redisclient.Single(redisclient.Config{Addrs: []string{s.redis.spare.Addr()}})
	defer func() { err = errors.Join(err, client.Close()) }()
	return client.Do(context.WithoutCancel(s.ctx), command...).Err()
}
