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

// openLabReplica opens a replica for a lab, with the flags that a process would get. command is serve or job.
func openLabReplica(command string, flags []string) (http.Handler, error) {
	settings := map[string]string{}
	for _, flag := range flags {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		settings[name] = value
	}
	jobFlags := map[string]string{}
	for _, name := range []string{"lock", "every", "work"} { // The configuration does not have the flags of lockstep job.
		jobFlags[name] = settings[name]
		delete(settings, name)
	}
	cfg, err := config.FromMap(settings, evolution.Names())
	if err != nil {
		return nil, err
	}
	// go-redis cannot check here whether an idle connection was closed, as it does elsewhere. So each command gets a new connection.
	cfg.Redis.Idle = time.Nanosecond
	for _, addr := range append(cfg.Redis.Addrs, cfg.Redis.RedlockAddrs...) { // addresses of the lab's proxies
		if _, err := tab.ForwardToWorker(addr, &tab.Gate{}); err != nil {
			return nil, err
		}
	}
	if command == "job" {
		return http.NotFoundHandler(), startJob(cfg, jobFlags["lock"], jobFlags["every"], jobFlags["work"])
	}
	shop, err := openShop(cfg)
	if err != nil {
		return nil, err
	}
	return shop.Handler(), nil
}

// startJob starts a replica of a scheduled job, which runs until its worker ends, and returns when the replica is up.
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
	s.Every = job.TickLength(length)
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

// startupWriter receives a value when a replica writes its first line, which says that it is up.
type startupWriter chan struct{}

// Write implements io.Writer. It never fails.
func (u startupWriter) Write(line []byte) (int, error) {
	select {
	case u <- struct{}{}:
	default:
	}
	return len(line), nil
}
