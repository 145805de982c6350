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

// rooms are those that a server, or a front, is made of.
type rooms struct {
	shop   *api.API
	events route.Handler  // streams what the locks do
	front  *cluster.Front // nil: of a server
	shown  *live.Server
	nodes  *live.Nodes // nil: none that are embedded
	teaching

	followers *api.Streams // bounds those who follow the events; nil: a front does
}

// How many may follow the events beside the server's peers: for each, all that happens is written anew.
const (
	mostFollowers  = 16
	shareFollowers = 8 // most followers from one address
)

// newRooms makes those that a server and a front have alike: what shows a shop, the seat, and the classroom. The clients are those of a
// front, if the server is behind one.
func newRooms(
	cfg config.Config, guard api.Guard, addr net.Addr, redis *dao.Redis, shop live.Shop, program string, behindFront bool,
) rooms {
	client := func(r *http.Request) string { return api.Client(r, behindFront) }
	if behindFront {
		program = "" // the front runs the labs
	}
	r := rooms{shown: newLive(cfg, guard, addr, shop), teaching: newTeaching(guard, addr, client, program)}
	if peers := len(cfg.Server.Peers); !behindFront {
		r.followers = &api.Streams{Most: mostFollowers + peers, Share: shareFollowers + peers}
	}
	r.nodes = newNodes(redis, r.shown.Hub)
	r.shown.Hub.Controls.Nodes = r.nodes != nil
	return r
}

// closers returns what ends the streams of the rooms.
func (r rooms) closers() []func() { return append(r.teaching.closers(), r.shown.Close) }

// routes returns all that there is.
func (r rooms) routes() []route.Row {
	rows := r.shop.Routes()
	events := r.shown.Streams.Bound(r.followers.Bound(r.events))
	rows = append(rows, route.On("GET", "/events", route.Participant, route.Front, events))
	rows = append(rows, r.shown.Routes()...)
	rows = append(rows, r.nodes.Routes()...)
	rows = append(rows, r.front.Routes()...)
	return append(rows, r.teaching.routes()...)
}
