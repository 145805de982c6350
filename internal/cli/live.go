package cli

import (
	"net"
	"net/http"
	"time"

	"github.com/google/uuid"

	"lockstep/internal/dao"
	"lockstep/internal/shop/api"
	"lockstep/internal/shop/config"
	"lockstep/internal/watch/live"
)

const (
	liveLinger = 10 * time.Second       // a page that is loaded anew misses nothing
	liveSettle = 150 * time.Millisecond // the streams of replicas are read ten times a second
)

// newLive makes what is served to those who watch a shop, by a server, or a front, that listens at addr.
func newLive(cfg config.Config, guard api.Guard, addr net.Addr, shop live.Shop) *live.Server {
	hub := &live.Hub{Shop: shop, Linger: liveLinger, Now: time.Now, Can: live.Can{Administer: administers(guard)}}
	if replica, is := shop.(*live.Replica); !is || len(replica.Peers) > 0 {
		hub.Settle = liveSettle
	}
	targets := []string{"http://" + reachable(addr.String())}
	for _, peer := range cfg.Server.Peers {
		targets = append(targets, "http://"+peer)
	}
	return &live.Server{Hub: hub, Bursts: &live.Bursts{
		Targets: targets, Peers: cfg.Server.Peers, Token: cfg.Admin.Token, NewID: uuid.NewString,
		Fits: func(buyers int) error { return checkFiles(buyers, true) },
	}}
}

// administers says who may change things, for the page.
func administers(guard api.Guard) string {
	switch {
	case guard.Token != "":
		return "token"
	case guard.Open:
		return "open"
	default:
		return "no"
	}
}

// nodeFaults is what stops and empties the masters of Redlock that are embedded in this process; nil, if they are not.
func nodeFaults(redis *dao.Redis, hub *live.Hub) http.Handler {
	for _, node := range redis.Nodes {
		if !node.Embedded() {
			return nil
		}
	}
	if len(redis.Nodes) == 0 {
		return nil
	}
	hub.Can.Nodes = true
	return (&live.Nodes{Nodes: redis.Nodes, Note: hub.Note}).Handler()
}
