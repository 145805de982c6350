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
	liveLinger = 10 * time.Second       // a page that is loaded anew misses nothing
	liveSettle = 150 * time.Millisecond // the streams of replicas are read ten times a second
)

// newLive makes the page's live view of a shop, for a server, or a front, that listens at addr.
func newLive(cfg config.Config, guard api.Guard, addr net.Addr, shop live.Shop) *live.Server {
	hub := &live.Hub{Shop: shop, LingerTime: liveLinger, Now: time.Now, Controls: live.Controls{Administer: adminRights(guard)}}
	if replica, is := shop.(*live.Replica); !is || len(replica.Peers) > 0 {
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

// adminRights tells the page who may change things.
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

// newNodes returns what stops and empties the masters of Redlock; nil if they are not embedded in this process.
func newNodes(redis *dao.Redis, hub *live.Hub) *live.Nodes {
	apart := func(node dao.Node) bool { return !node.Embedded() }
	if len(redis.Nodes) == 0 || slices.ContainsFunc(redis.Nodes, apart) {
		return nil
	}
	return &live.Nodes{Nodes: redis.Nodes, Note: hub.Note}
}
