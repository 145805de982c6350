package server

import (
	"net"
	"slices"
	"time"

	"github.com/google/uuid"

	"lockstep/internal/api"
	"lockstep/internal/config"
	"lockstep/internal/dao"
	"lockstep/internal/live"
	"lockstep/internal/load"
)

const (
	liveLinger = 10 * time.Second       // Hub.LingerTime: long enough that a page misses nothing while it is reloaded
	liveSettle = 150 * time.Millisecond // Hub.SettleTime: longer than 100 ms, the interval at which the streams of replicas are read
)

// newLive returns the live view of a shop, for a server or a front that listens at addr.
func newLive(cfg config.Config, guard api.Guard, addr net.Addr, shop live.Shop) *live.Server {
	hub := &live.Hub{Shop: shop, LingerTime: liveLinger, Now: time.Now, Controls: live.Controls{Administer: adminRights(guard)}}
	if replica, ok := shop.(*live.Replica); !ok || len(replica.Peers) > 0 {
		hub.SettleTime = liveSettle
	}
	targets := []string{"http://" + config.Reachable(addr.String())}
	for _, peer := range cfg.Server.Peers {
		targets = append(targets, "http://"+peer)
	}
	return &live.Server{Hub: hub, Bursts: &live.Bursts{
		Targets: targets, Peers: cfg.Server.Peers, Token: cfg.Admin.Token, NewID: uuid.NewString,
		CheckBuyers: func(buyers int) error { return load.CheckFileLimit(buyers, true) },
	}}
}

// adminRights returns who may change things, as the page calls it: token, open, or no.
func adminRights(guard api.Guard) string {
	switch {
	case guard.Token != "":
		return "token"
	case guard.Open:
		return "open"
	default:
		return "no"
	}
}

// newNodes returns the nodes of Redlock, which it can stop and empty; nil unless all are embedded in this process.
func newNodes(redis *dao.Redis, hub *live.Hub) *live.Nodes {
	isExternal := func(node dao.Node) bool { return !node.IsEmbedded() }
	if len(redis.Nodes) == 0 || slices.ContainsFunc(redis.Nodes, isExternal) {
		return nil
	}
	return &live.Nodes{Nodes: redis.Nodes, Note: hub.Note}
}
