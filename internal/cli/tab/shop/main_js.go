// Shop is the shop in a browser's tab: what a page's worker runs. Its network is the memory of the worker, and roads to other workers'.
// Its argument says what it is: alone, with an embedded Redis; r1, r2 or r3, a replica among three; redis, what they share.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"

	"lockstep/internal/cli/server"
	"lockstep/internal/dao"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/shop/config"
	"lockstep/internal/web/tab"
)

func main() {
	handler, err := open(os.Args[1])
	if err != nil {
		panic(err) // whoever started it gave it what it needs
	}
	tab.Serve(handler)
}

func open(name string) (http.Handler, error) {
	cfg, err := config.Given(nil, evolution.Names())
	if err != nil {
		return nil, err
	}
	cfg.Server.Replica = name
	switch name {
	case "alone":
		cfg.Server.Replica = "tab"
	case "redis":
		_, err := dao.Open(context.Background(), cfg.Redis)
		return http.NotFoundHandler(), err
	default:
		if err := among(&cfg, name); err != nil {
			return nil, err
		}
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	shop, err := server.Open(context.Background(), cfg, server.Options{Log: log})
	if err != nil {
		return nil, err
	}
	shop.Live.Hub.Can.Replicas = true
	return shop.Handler(), nil
}

// among makes the settings those of a replica among three, with roads to the other two and to their Redis.
func among(cfg *config.Config, name string) error {
	cfg.Redis.Addrs = []string{cfg.Redis.EmbeddedAddr}
	for i := range 5 {
		cfg.Redis.RedlockAddrs = append(cfg.Redis.RedlockAddrs, fmt.Sprintf("127.0.0.1:%d", 6381+i))
	}
	roads := append(cfg.Redis.RedlockAddrs, cfg.Redis.EmbeddedAddr)
	for i := range 3 {
		addr := fmt.Sprintf("127.0.0.1:%d", 8081+i)
		if name == fmt.Sprintf("r%d", i+1) {
			cfg.Server.Addr = addr
			continue
		}
		cfg.Server.Peers = append(cfg.Server.Peers, addr)
		roads = append(roads, addr)
	}
	for _, addr := range roads {
		if err := tab.Road(addr); err != nil {
			return err
		}
	}
	return nil
}
