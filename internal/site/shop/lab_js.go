package main

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"time"

	"lockstep/internal/cluster/job"
	"lockstep/internal/config"
	"lockstep/internal/evolution"
	"lockstep/internal/tab"
)

// openLabReplica opens a replica of a lab's. Its settings are flags, as those of a process.
func openLabReplica(as string, flags []string) (http.Handler, error) {
	settings := map[string]string{}
	for _, flag := range flags {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		settings[name] = value
	}
	var its [3]string // what is said to the command job alone
	for i, name := range []string{"lock", "every", "work"} {
		its[i] = settings[name]
		delete(settings, name)
	}
	cfg, err := config.FromMap(settings, evolution.Names())
	if err != nil {
		return nil, err
	}
	// go-redis cannot look here, as it does elsewhere, whether an idle connection has ended meanwhile: each command has a new one.
	cfg.Redis.Idle = time.Nanosecond
	for _, addr := range append(cfg.Redis.Addrs, cfg.Redis.RedlockAddrs...) { // the lab's proxies
		if _, err := tab.ForwardToWorker(addr, &tab.Gate{}); err != nil {
			return nil, err
		}
	}
	if as == "job" {
		return http.NotFoundHandler(), startJob(cfg, its[0], its[1], its[2])
	}
	shop, err := openShop(cfg)
	if err != nil {
		return nil, err
	}
	return shop.Handler(), nil
}

// runs runs a job for ever. It is up when it returns.
func startJob(cfg config.Config, lock, every, work string) error {
	strategy, err := evolution.Find(lock)
	if err != nil {
		return err
	}
	s := job.Session{Config: cfg, Lock: strategy, Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))}
	length, err := time.ParseDuration(every)
	if err != nil {
		return err
	}
	s.Every = job.Every(length)
	if s.Work, err = time.ParseDuration(work); err != nil {
		return err
	}
	up := make(startupWriter, 1)
	s.Output = up
	failed := make(chan error, 1)
	go func() { failed <- s.RunReplica(context.Background()) }()
	select {
	case err := <-failed:
		return err
	case <-up:
		return nil
	}
}

// up is written to when a replica says that it is up.
type startupWriter chan struct{}

func (u startupWriter) Write(line []byte) (int, error) {
	select {
	case u <- struct{}{}:
	default:
	}
	return len(line), nil
}
