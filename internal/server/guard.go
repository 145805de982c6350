package server

import (
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/google/uuid"

	"lockstep/internal/api"
	"lockstep/internal/config"
)

// newGuard returns the guard of a server that listens at addr. With a token, or if nobody may change anything, every Host is allowed,
// unless server.hosts lists names: such a server may be behind a proxy, under a public name.
func newGuard(cfg config.Config, addr net.Addr) api.Guard {
	loopback := isLoopback(addr)
	guard := api.Guard{Token: cfg.Admin.Token, Open: cfg.Admin.Open || loopback, Local: !cfg.Admin.Open}
	if len(cfg.Server.Hosts) == 0 && (guard.Token != "" || !guard.Open) {
		return guard
	}
	guard.Hosts = &api.Hosts{Names: slices.Clone(cfg.Server.Hosts), AnyIP: cfg.Admin.Open || !loopback}
	if own, _, err := net.SplitHostPort(cfg.Server.Addr); err == nil && own != "" {
		guard.Hosts.Names = append(guard.Hosts.Names, own)
	}
	if cfg.Admin.Open {
		guard.Hosts.Names = append(guard.Hosts.Names, machineNames()...)
	}
	return guard
}

// machineNames returns this machine's names in the local network.
func machineNames() []string {
	name, err := os.Hostname()
	if err != nil {
		return nil
	}
	short, _, _ := strings.Cut(name, ".")
	return []string{name, short, short + ".local"}
}

// replicaConfig returns the configuration of a replica, which listens on loopback behind a reverse proxy with this guard. The replica
// accepts every request that the proxy forwards. If nobody may change anything, the replica gets a token that nobody knows.
func replicaConfig(guard api.Guard, cfg config.Config) config.Config {
	cfg.Server.Hosts = nil
	switch {
	case guard.Token != "":
	case !guard.Open:
		cfg.Admin.Token = uuid.NewString()
	default:
		cfg.Server.Hosts = guard.Hosts.Names
	}
	return cfg
}

// warnOfAccess logs a warning if, beyond loopback, everybody or nobody may change the shop.
func warnOfAccess(guard api.Guard, addr net.Addr, log *slog.Logger) {
	switch {
	case guard.Token != "" || isLoopback(addr):
	case guard.Open:
		log.Warn("everybody who reaches " + addr.String() + " may PUT, DELETE and POST: admin.open is true")
	default:
		log.Warn("nobody may change anything, only buy: " + addr.String() + " is beyond loopback, and neither admin.token nor admin.open is set")
	}
}

// isLoopback reports whether addr is a TCP address on loopback.
func isLoopback(addr net.Addr) bool {
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}
