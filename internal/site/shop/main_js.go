// Shop is the shop in a browser's tab: what a page's worker runs. Its network is the memory of the worker, and roads to other workers'.
// Its first argument says what it is: alone, with an embedded Redis; r1, r2 or r3, a replica among three; redis, what they share; lab,
// what plays labs; serve or job, a replica of a lab's, with its settings after it.
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
		panic(err) // whoever started it gave it what it needs
	}
	tab.Serve(handler)
}

func open(as string, settings []string) (http.Handler, error) {
	cfg, err := config.FromMap(nil, evolution.Names())
	if err != nil {
		return nil, err
	}
	cfg.Server.Replica = as
	switch as {
	case "serve", "job":
		return openLabReplica(as, settings)
	case "lab":
		place := lab.TabEnvironment(func() lab.Replicas { return &tab.Workers{} }, cfg.Redis.EmbeddedAddr)
		return route.Mux((&lab.Runner{Environment: place}).Routes()...), nil
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
	return withFaultRoutes(shop, as, gate, peers), nil
}

// sells opens a shop.
func openShop(cfg config.Config) (*server.Server, error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return server.Open(context.Background(), cfg, server.Options{Log: log})
}

// among makes the settings those of a replica among three, with roads to the other two, each through a gate, and to their Redis.
func configurePeers(cfg *config.Config) (gate *tab.Gate, peers map[string]*tab.Gate, err error) {
	cfg.Redis.Addrs = []string{cfg.Redis.EmbeddedAddr}
	for i := range 5 {
		cfg.Redis.RedlockAddrs = append(cfg.Redis.RedlockAddrs, fmt.Sprintf("127.0.0.1:%d", 6381+i))
	}
	gate, peers = &tab.Gate{}, map[string]*tab.Gate{}
	roads := map[string]*tab.Gate{cfg.Redis.EmbeddedAddr: gate}
	for _, addr := range cfg.Redis.RedlockAddrs {
		roads[addr] = gate
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
		roads[addr] = peers[name]
	}
	for addr, gate := range roads {
		if _, err := tab.ForwardToWorker(addr, gate); err != nil {
			return nil, nil, err
		}
	}
	return gate, peers, nil
}

// faulty is a shop with what befalls replicas: this one is cut off from Redis, or reaches it again; another was killed, which it could not
// note itself.
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
		if road := peers[dead]; road != nil {
			road.HangUp()
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
