// Shop is the program of a worker that runs the shop in a browser's tab. Its network is the memory of the worker, with connections
// forwarded to other workers. The first argument is its role: alone, a shop with an embedded Redis; r1, r2 or r3, one of three replicas;
// redis, the Redis that they share; lab, which runs labs; serve or job, a replica in a lab, whose flags follow.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"lockstep/internal/api/route"
	"lockstep/internal/config"
	"lockstep/internal/dao"
	"lockstep/internal/evolution"
	"lockstep/internal/lab"
	"lockstep/internal/server"
	"lockstep/internal/tab"
	"lockstep/internal/witness"
)

// collectionPercent is the growth of the heap, in percent, after which garbage is collected. A worker has one thread, which the collector
// shares, and its heap is small: with Go's 100, a burst takes a quarter longer.
const collectionPercent = 400

func main() {
	debug.SetGCPercent(collectionPercent)
	handler, err := open(os.Args[1], os.Args[2:])
	if err != nil {
		panic(err) // The page starts it with valid arguments.
	}
	tab.Serve(handler)
}

// open returns the handler of a worker with this role. flags are only for the roles serve and job.
func open(role string, flags []string) (http.Handler, error) {
	cfg, err := config.FromMap(nil, evolution.Names())
	if err != nil {
		return nil, err
	}
	cfg.Server.Replica = role
	switch role {
	case "serve", "job":
		return openLabReplica(role, flags)
	case "lab":
		environment := lab.TabEnvironment(func() lab.Replicas { return &tab.Workers{} }, cfg.Redis.EmbeddedAddr)
		return route.Mux((&lab.Runner{Environment: environment}).Routes()...), nil
	case "alone":
		cfg.Server.Replica = "tab"
		shop, err := openShop(cfg)
		if err != nil {
			return nil, err
		}
		shop.Live.Hub.Controls.Replicas = []string{"kill"}
		return shop.Handler(), nil
	case "redis":
		_, err := dao.Open(context.Background(), cfg.Redis)
		return http.NotFoundHandler(), err
	}
	gate, peers, err := configurePeers(&cfg)
	if err != nil {
		return nil, err
	}
	shop, err := openShop(cfg)
	if err != nil {
		return nil, err
	}
	shop.Live.Hub.Controls.Replicas = []string{"cut", "mend", "kill"}
	return withFaultRoutes(shop, role, gate, peers), nil
}

// openShop opens a shop that logs warnings and errors.
func openShop(cfg config.Config) (*server.Server, error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return server.Open(context.Background(), cfg, server.Options{Log: log})
}

// configurePeers makes the settings those of one of three replicas, and forwards connections to Redis through gate, and to each of the
// other two through a gate in peers.
func configurePeers(cfg *config.Config) (gate *tab.Gate, peers map[string]*tab.Gate, err error) {
	cfg.Redis.Addrs = []string{cfg.Redis.EmbeddedAddr}
	for i := range 5 {
		cfg.Redis.RedlockAddrs = append(cfg.Redis.RedlockAddrs, fmt.Sprintf("127.0.0.1:%d", 6381+i))
	}
	gate, peers = &tab.Gate{}, map[string]*tab.Gate{}
	gates := map[string]*tab.Gate{cfg.Redis.EmbeddedAddr: gate}
	for _, addr := range cfg.Redis.RedlockAddrs {
		gates[addr] = gate
	}
	for i := range 3 {
		addr := fmt.Sprintf("127.0.0.1:%d", 8081+i)
		name := fmt.Sprintf("r%d", i+1)
		if cfg.Server.Replica == name {
			cfg.Server.Addr = addr
			continue
		}
		cfg.Server.Peers = append(cfg.Server.Peers, addr)
		peers[name] = &tab.Gate{}
		gates[addr] = peers[name]
	}
	for addr, gate := range gates {
		if _, err := tab.ForwardToWorker(addr, gate); err != nil {
			return nil, nil, err
		}
	}
	return gate, peers, nil
}

// withFaultRoutes adds routes for faults to a shop: this replica is cut off from Redis, or reconnected; another one was killed, which it
// could not record itself.
func withFaultRoutes(shop *server.Server, name string, gate *tab.Gate, peers map[string]*tab.Gate) http.Handler {
	cut := func(http.ResponseWriter, *http.Request) error {
		gate.Shut()
		shop.Witness.Note(witness.KindCutOff)
		return nil
	}
	mend := func(http.ResponseWriter, *http.Request) error {
		shop.Witness.Note(witness.KindReconnects)
		gate.Open()
		return nil
	}
	kill := func(_ http.ResponseWriter, r *http.Request) error {
		dead, now := r.PathValue("name"), time.Now()
		shop.Live.Hub.Note(witness.Event{Replica: dead, Kind: witness.KindDies, Sent: now, Replied: now})
		if gate := peers[dead]; gate != nil {
			gate.CloseAll()
		}
		return nil
	}
	mux := route.Mux(
		route.On("POST", "/replicas/"+name+"/cut", route.Administrator, route.Tab, cut),
		route.On("POST", "/replicas/"+name+"/mend", route.Administrator, route.Tab, mend),
		route.On("POST", "/replicas/{name}/kill", route.Administrator, route.Tab, kill),
	)
	mux.Handle("/", shop.Handler())
	return mux
}
