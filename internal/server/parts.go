package server

import (
	"net"
	"net/http"

	"lockstep/internal/api"
	"lockstep/internal/api/route"
	"lockstep/internal/cluster"
	"lockstep/internal/config"
	"lockstep/internal/dao"
	"lockstep/internal/live"
)

// parts are the components that provide the routes of a server or a reverse proxy.
type parts struct {
	shop   *api.API
	events route.Handler  // streams the events of the locks
	front  *cluster.Front // nil in a server without a cluster
	shown  *live.Server   // live view of the shop
	nodes  *live.Nodes    // nil unless the Redlock nodes are embedded
	teachingParts

	followers *api.Streams // limits the followers of the events; nil behind a reverse proxy, which has its own
}

// Limits of the streams of GET /events, in addition to one per peer. Each stream writes every event again.
const (
	maxFollowers          = 16
	maxFollowersPerClient = 8 // limit for one client address
)

// newParts returns the parts that a server and a reverse proxy have in common: the live view, the seat, the classroom and the labs. With
// behindFront, clients are identified by the proxy's X-Forwarded-For.
func newParts(
	cfg config.Config, guard api.Guard, addr net.Addr, redis *dao.Redis, shop live.Shop, program string, behindFront bool,
) parts {
	client := func(r *http.Request) string { return api.ClientAddress(r, behindFront) }
	if behindFront {
		program = "" // The reverse proxy runs the labs.
	}
	r := parts{shown: newLive(cfg, guard, addr, shop), teachingParts: newTeaching(guard, addr, client, program)}
	if peers := len(cfg.Server.Peers); !behindFront {
		r.followers = &api.Streams{Max: maxFollowers + peers, MaxPerClient: maxFollowersPerClient + peers}
	}
	r.nodes = newNodes(redis, r.shown.Hub)
	r.shown.Hub.Controls.Nodes = r.nodes != nil
	return r
}

// closers returns the functions that end the streams of the parts.
func (r parts) closers() []func() { return append(r.teachingParts.closers(), r.shown.Close) }

// routes returns the routes of all parts.
func (r parts) routes() []route.Row {
	rows := r.shop.Routes()
	events := r.shown.Streams.Limit(r.followers.Limit(r.events))
	rows = append(rows, route.On("GET", "/events", route.Participant, route.Front, events))
	rows = append(rows, r.shown.Routes()...)
	rows = append(rows, r.nodes.Routes()...)
	rows = append(rows, r.front.Routes()...)
	return append(rows, r.teachingParts.routes()...)
}
