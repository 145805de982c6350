// Shop is the shop in a browser's tab, with its embedded Redis: what a page's worker runs. Its network is the memory of the worker.
package main

import (
	"context"
	"log/slog"
	"os"

	"lockstep/internal/cli/server"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/shop/config"
	"lockstep/internal/web/tab"
)

func main() {
	cfg, err := config.Default(evolution.Names())
	if err != nil {
		panic(err) // a default that is not allowed
	}
	cfg.Server.Replica = "tab"
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	shop, err := server.Open(context.Background(), cfg, server.Options{Log: log})
	if err != nil {
		panic(err) // nothing else is in this network
	}
	tab.Serve(shop.Handler())
}
