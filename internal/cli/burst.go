package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockstep/internal/config"
	"lockstep/internal/evolution"
	"lockstep/internal/history"
	"lockstep/internal/load"
)

// anyPort is where a server listens that only its own burst will ask.
const anyPort = "127.0.0.1:0"

func newBurst() *cobra.Command {
	var requests, buyers int
	var stock int64
	var version string
	var targets []string
	var timeout time.Duration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "burst",
		Short: "Let many buyers loose at once, and give the verdict",
		Long: `burst starts a new run, lets the buyers loose together, and reads the verdict: exit code 0 PASS, 1 OVERSOLD or UNDERSOLD,
2 UNKNOWN or trouble. It asks the --target, or the server at server.addr if one answers there, or else one of its own.`,
		Example: "  lockstep burst -n 1000 -c 1000 --lock v0\n  lockstep burst -n 200 -c 200 --lock v4",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("stock") {
				stock = int64(requests)
			}
			if err := checkBurst(requests, buyers, stock, version, timeout); err != nil {
				return err
			}
			cfg, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			targets, closeTarget, err := findTargets(cmd, cfg, targets)
			if err != nil {
				return err
			}
			progress, finish := newProgress(cmd.ErrOrStderr(), requests)
			result, err := load.Burst{
				Targets: targets, Requests: requests, Buyers: buyers, Stock: stock, Lock: version,
				Token: cfg.Admin.Token, Timeout: timeout, Progress: progress,
			}.Run(cmd.Context())
			finish()
			if err := errors.Join(err, closeTarget()); err != nil {
				return err
			}
			if asJSON {
				err = json.NewEncoder(cmd.OutOrStdout()).Encode(result)
			} else {
				err = printResult(cmd.OutOrStdout(), result)
			}
			if err != nil {
				return err
			}
			if code := result.Verdict.ExitCode(); code != exitOK {
				return exitCode(code)
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&requests, "requests", "n", 200, "how many sales to ask for")
	flags.IntVarP(&buyers, "buyers", "c", 200, "how many buyers ask at once")
	flags.Int64Var(&stock, "stock", 0, "stock of the run (default: as many as requests)")
	flags.StringVar(&version, "lock", "", "switch to this lock first: "+strings.Join(evolution.Names(), ", "))
	flags.StringSliceVar(&targets, "target", nil, "URL of a server, or several between which the buyers take turns")
	flags.DurationVar(&timeout, "timeout", 5*time.Minute, "longest wait of a buyer for one answer")
	flags.BoolVar(&asJSON, "json", false, "one JSON document on standard output")
	return cmd
}

func checkBurst(requests, buyers int, stock int64, version string, timeout time.Duration) error {
	switch {
	case requests < 1 || requests > 10_000_000:
		return fmt.Errorf("-n %d is not allowed: want from 1 to 10000000 requests", requests)
	case buyers < 1 || buyers > 100_000:
		return fmt.Errorf("-c %d is not allowed: want from 1 to 100000 buyers", buyers)
	case stock < 0 || stock > history.MaxStock:
		return fmt.Errorf("--stock %d is not allowed: want from 0 to %d", stock, history.MaxStock)
	case timeout <= 0:
		return fmt.Errorf("--timeout %v is not allowed: want more than 0", timeout)
	}
	if version == "" {
		return nil
	}
	_, err := evolution.Find(version)
	return err
}

// findTargets says in its first line whom the burst will ask, and starts a server if there is none.
func findTargets(cmd *cobra.Command, cfg config.Config, named []string) ([]string, func() error, error) {
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	nothing := func() error { return nil }
	if len(named) > 0 {
		for i, target := range named {
			u, err := url.Parse(target)
			if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
				return nil, nil, fmt.Errorf("--target %q is not allowed: want a URL such as http://127.0.0.1:8080", target)
			}
			named[i] = strings.TrimSuffix(target, "/")
			if !load.IsLockstep(ctx, named[i]) {
				return nil, nil, fmt.Errorf("--target %s: no lockstep answers there; start one with: lockstep serve", named[i])
			}
		}
		fmt.Fprintln(stderr, "burst: asking", strings.Join(named, ", "))
		return named, nothing, refuseSettings(cmd, named[0])
	}
	target := "http://" + reachable(cfg.Server.Addr)
	if load.IsLockstep(ctx, target) {
		fmt.Fprintln(stderr, "burst: asking the server at", target)
		return []string{target}, nothing, refuseSettings(cmd, target)
	}
	cfg.Server.Addr, cfg.Redis.EmbeddedAddr = anyPort, anyPort
	own, err := openServer(ctx, cfg, newLog(stderr, "error"))
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(stderr, "burst: no lockstep at %s; started one for this burst: %s · %s\n", target, own.url(), own.redis.Name)
	return []string{own.url()}, own.close, nil
}

// refuseSettings refuses flags that only a server of the burst's own would heed.
func refuseSettings(cmd *cobra.Command, target string) (err error) {
	cmd.Flags().Visit(func(flag *pflag.Flag) {
		group, _, isKey := strings.Cut(flag.Name, ".")
		if isKey && group != "server" && group != "admin" {
			err = errors.Join(err, fmt.Errorf("--%s is not allowed: it is for a server of the burst's own, and %s is running already; "+
				"to switch its lock give --lock", flag.Name, target))
		}
	})
	return err
}

// newProgress draws a bar if a person is watching, once it takes long enough to be worth one.
func newProgress(to io.Writer, requests int) (step func(int), finish func()) {
	if !isTerminal(to) {
		return func(int) {}, func() {}
	}
	began := time.Now()
	bar := progressbar.NewOptions(requests, progressbar.OptionSetWriter(to), progressbar.OptionSetDescription("sales"),
		progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	return func(done int) {
			if time.Since(began) > time.Second {
				_ = bar.Set(done) // a bar that cannot be drawn is no reason to stop selling
			}
		}, func() {
			_ = bar.Clear()
		}
}

func printResult(to io.Writer, r load.Result) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	row := func(name, format string, args ...any) {
		fmt.Fprintf(table, "%s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	row("lock", "%s", r.Lock)
	row("answers", "%d in %.2f s: %d sold (%.0f a second), %d sold out, %d failed",
		r.Requests, r.Seconds, r.OK, r.PerSecond, r.SoldOut, r.Failed)
	for _, code := range slices.SortedFunc(maps.Keys(r.Failures), func(a, b string) int { return cmp.Compare(r.Failures[b], r.Failures[a]) }) {
		row("  failed", "%d × %s", r.Failures[code], code)
	}
	row("latency", "p50 %.1f ms, p90 %.1f ms, p99 %.1f ms, max %.1f ms", r.Latency.P50, r.Latency.P90, r.Latency.P99, r.Latency.Max)
	row("stock", "%d at first, %d left", r.Initial, r.Remaining)
	row("orders", "%d in the ledger", r.Sold)
	if r.Lost < 0 {
		row("lost", "%d: the stock fell by so many more than were sold", r.Lost)
	} else {
		row("lost", "%d sales the stock never felt", r.Lost)
	}
	row("oversold", "%d sales beyond the stock", r.Oversold)
	if missing := int64(r.OK) - r.Sold; missing > 0 {
		row("forgotten", "%d sales were answered, and their orders are not in the ledger: Redis lost them, or a new run began", missing)
	}
	row("verdict", "%s: %s", r.Verdict, meaning(r))
	return table.Flush()
}

func meaning(r load.Result) string {
	switch r.Verdict {
	case history.Pass:
		text := fmt.Sprintf("stock and orders agree, with up to %d sales at once", r.MaxInFlight)
		if r.Failed > 0 {
			text += fmt.Sprintf("; but %d of %d requests failed", r.Failed, r.Requests)
		}
		return text
	case history.Oversold:
		return "more was sold than the stock says"
	case history.Undersold:
		return "the stock fell by more than was sold"
	default:
		if r.Sold == 0 {
			return "nothing was sold, so nothing was put to the test"
		}
		return "no two sales overlapped, so nothing was put to the test"
	}
}
