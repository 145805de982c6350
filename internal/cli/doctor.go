package cli

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/internal/cli/server"
	"lockstep/internal/language"
	"lockstep/internal/learn/doctor"
	"lockstep/internal/shop/config"
	"lockstep/internal/shop/load"
	"lockstep/internal/web"
)

func newDoctor() *cobra.Command {
	var in language.Language
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine lacks for the course, and how to get it",
		Long: `doctor looks for what the course and a workshop need: Go, the modules, the ports, and what only some
lessons use. It says what each thing is for, and how to get what is missing. It changes nothing, and
asks nobody but the Redis of redis.addrs. Of the settings it heeds server.addr and those of redis.

Exit code: 0 ready; 1 something that is needed is missing; 2 trouble.`,
		Example: "  lockstep doctor\n  lockstep doctor --server.addr 127.0.0.1:8081\n  lockstep doctor --lang zh",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := loadOnly(cmd, "server.addr", "redis.embedded_addr")
			if err != nil {
				return err
			}
			machine, err := thisMachine(cmd, cfg)
			if err != nil {
				return err
			}
			findings := machine.Examine(cmd.Context(), in)
			if asJSON {
				err = web.WriteJSON(cmd.OutOrStdout(), findings)
			} else {
				printFindings(cmd, findings, in)
			}
			if err == nil && !doctor.Ready(findings) {
				err = exitCode(exitBroken)
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document to standard output")
	addLanguageFlag(cmd, &in)
	return cmd
}

// thisMachine returns the one that this program runs on.
func thisMachine(cmd *cobra.Command, cfg config.Config) (doctor.Machine, error) {
	dir, err := os.Getwd()
	if err != nil {
		return doctor.Machine{}, err
	}
	cache, err := os.UserCacheDir()
	if _, missing := os.Stat(cache); err != nil || missing != nil {
		cache = os.TempDir()
	}
	return doctor.Machine{
		OS: doctor.ThisSystem, Dir: dir, Cache: cache, Server: config.Reachable(cfg.Server.Addr),
		Redis: config.Reachable(cfg.Redis.EmbeddedAddr), LookPath: exec.LookPath,
		Eviction: func(ctx context.Context) (string, error) {
			shops, err := loadOnly(cmd, "redis.")
			if err != nil {
				return "", err
			}
			return server.Eviction(ctx, shops)
		},
		Output: func(ctx context.Context, env []string, program string, args ...string) (string, error) {
			command := exec.CommandContext(ctx, program, args...) //nolint:gosec // the doctor names them
			command.Dir, command.Env = dir, append(os.Environ(), env...)
			output, err := command.CombinedOutput()
			return string(output), err
		},
		Listen: func(addr string) error {
			listener, err := net.Listen("tcp", addr)
			if err != nil {
				return err
			}
			return listener.Close()
		},
		Probe: load.Probe, OpenFiles: load.OpenFileLimit,
		Buyers: func(limit int) int { return load.CapacityOf(limit).Connections }, FreeBytes: doctor.FreeBytes,
	}, nil
}

// printFindings prints a line for each thing, and below it how to get what is missing.
func printFindings(cmd *cobra.Command, findings []doctor.Finding, in language.Language) {
	out, typed := cmd.OutOrStdout(), cmd.Root().CommandPath()
	marks := map[doctor.State]string{doctor.Fine: "✓", doctor.Missing: "✗", doctor.Optional: "–", doctor.Unknown: "?"}
	for _, f := range findings {
		fmt.Fprintf(out, "%s %-12s  %s  (%s)\n", marks[f.State], f.Name, cmp.Or(f.Found, string(f.State)), f.For)
		if f.Get != "" {
			fmt.Fprintf(out, "  %-12s  → %s\n", "", strings.ReplaceAll(f.Get, goRun+" --", typed+" --"))
		}
	}
	if doctor.Ready(findings) {
		fmt.Fprint(out, in.Say("\nReady: %s course. What has a – is optional.\n", "\n准备好了：%s course。标 – 的是可选的。\n", typed))
	} else {
		fmt.Fprint(out, in.Say("\nNot ready: get what has a ✗.\n", "\n还没准备好：请补上标 ✗ 的。\n"))
	}
}
