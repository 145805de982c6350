package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockstep/internal/language"
	"lockstep/internal/lock/evolution"
	"lockstep/internal/service/history"
	"lockstep/internal/shop/api"
	"lockstep/internal/shop/config"
	"lockstep/internal/shop/load"
)

// anyPort is where a server listens that only its own burst will ask.
const anyPort = "127.0.0.1:0"

func newBurst() *cobra.Command {
	var requests, buyers int
	var stock int64
	var version string
	var targets []string
	var timeout time.Duration
	var minAnswered float64
	var asJSON bool
	var html string
	var in language.Language
	cmd := &cobra.Command{
		Use:   "burst",
		Short: "Let many buyers loose at once, and give the verdict",
		Long: `burst starts a new run, lets the buyers loose together, and reads the verdict: exit code 0 PASS,
1 OVERSOLD or UNDERSOLD, 2 UNKNOWN or trouble. It asks the --target, or the server at server.addr
if one answers there, or else one of its own.

A request is answered by sold or sold out. One that failed sold nothing. One is unknown if it may
have sold: its answer was outcome_unknown or bad_gateway, or there was none. Where fewer than 99 %
were answered (--min-answered), a PASS is UNKNOWN; OVERSOLD and UNDERSOLD stay what they are.

Where the ledger cannot be read, burst tries again for half a minute, and then says what it knows:
UNKNOWN. So is a ledger that lacks orders that buyers were told of, unless it shows OVERSOLD.`,
		Example: "  lockstep burst -n 1000 -c 1000 --lock v0\n  lockstep burst -n 200 -c 200 --lock v4",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("stock") {
				stock = int64(requests)
			}
			if err := checkBurst(requests, buyers, stock, version, timeout, minAnswered); err != nil {
				return err
			}
			cfg, err := loadConfig(cmd)
			if err != nil {
				return err
			}
			targets, closeTarget, err := findTargets(cmd, cfg, targets, min(requests, buyers), in)
			if err != nil {
				return err
			}
			document, err := openBurstDocument(cmd, html, targets[0], in)
			if err != nil {
				return errors.Join(err, closeTarget())
			}
			progress, finish := newProgress(cmd.ErrOrStderr(), requests)
			result, err := load.Burst{
				Targets: targets, Requests: requests, Buyers: buyers, Stock: stock, Lock: version,
				Token: cfg.Admin.Token, Timeout: timeout, Progress: progress, MinAnswered: minAnswered,
			}.Run(cmd.Context())
			finish()
			if err != nil {
				return errors.Join(err, document.close(), closeTarget())
			}
			told := answerBurst(cmd, result, asJSON, in)
			err = errors.Join(document.write(cmd.Context(), result), document.close(), closeTarget())
			return cmp.Or(err, told) // the verdict comes first, and a file that cannot be written is trouble, whatever the verdict
		},
	}
	flags := cmd.Flags()
	flags.IntVarP(&requests, "requests", "n", 200, "how many sales to ask for")
	flags.IntVarP(&buyers, "buyers", "c", 200, "how many buyers ask at once")
	flags.Int64Var(&stock, "stock", 0, "stock of the run (default: as many as requests)")
	flags.StringVar(&version, "lock", "", "switch to this lock first: "+strings.Join(evolution.Names(), ", "))
	flags.StringSliceVar(&targets, "target", nil, "URL of a server, or several between which the buyers take turns")
	flags.DurationVar(&timeout, "timeout", 5*time.Minute, "longest wait of a buyer for one answer")
	flags.Float64Var(&minAnswered, "min-answered", 0.99, "share of the requests that must be answered for a PASS; 0: any will do")
	flags.BoolVar(&asJSON, "json", false, "one JSON document on standard output")
	flags.StringVar(&html, "html", "",
		"write the result to this file too, and what the locks did: one page that needs no server")
	speaks(cmd, &in)
	completeWith(cmd, "lock", evolution.Names()...)
	return cmd
}

// answerBurst prints the result, and makes the verdict the exit code.
func answerBurst(cmd *cobra.Command, result load.Result, asJSON bool, in language.Language) error {
	var err error
	if asJSON {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(result)
	} else {
		err = printResult(cmd.OutOrStdout(), result, in)
	}
	if err != nil {
		return err
	}
	if code := result.Verdict.ExitCode(); code != exitOK {
		return exitCode(code)
	}
	return nil
}

func checkBurst(requests, buyers int, stock int64, version string, timeout time.Duration, minAnswered float64) error {
	switch {
	case requests < 1 || requests > 10_000_000:
		return fmt.Errorf("-n %d is not allowed: want from 1 to 10000000 requests", requests)
	case buyers < 1 || buyers > 100_000:
		return fmt.Errorf("-c %d is not allowed: want from 1 to 100000 buyers", buyers)
	case stock < 0 || stock > history.MaxStock:
		return fmt.Errorf("--stock %d is not allowed: want from 0 to %d", stock, history.MaxStock)
	case timeout <= 0:
		return fmt.Errorf("--timeout %v is not allowed: want more than 0", timeout)
	case !(minAnswered >= 0 && minAnswered <= 1): // nor NaN
		return fmt.Errorf("--min-answered %v is not allowed: want from 0 (any share will do) to 1 (every request)", minAnswered)
	}
	if version == "" {
		return nil
	}
	_, err := findLock(version)
	return err
}

// findTargets gives the servers that the buyers ask, says so in the first line, and starts a server if there is none.
func findTargets(cmd *cobra.Command, cfg config.Config, named []string, buyers int, in language.Language) (
	[]string, func() error, error,
) {
	ctx, stderr, say := cmd.Context(), cmd.ErrOrStderr(), sayIn(in)
	nothing := func() error { return nil }
	if len(named) > 0 {
		for i, target := range named {
			u, err := url.Parse(target)
			if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
				return nil, nil, fmt.Errorf("--target %q is not allowed: want a URL such as http://127.0.0.1:8080", target)
			}
			named[i] = strings.TrimSuffix(target, "/")
			if !load.IsLockstep(ctx, named[i]) {
				return nil, nil, fmt.Errorf("--target %s: no lockstep answers there; start one with: %s serve", named[i], cmd.Root().CommandPath())
			}
		}
		fmt.Fprintln(stderr, say("burst: asking", "burst：请求"), strings.Join(named, ", "))
		return named, nothing, errors.Join(refuseSettings(cmd, named[0]), checkFiles(buyers, false))
	}
	target := "http://" + reachable(cfg.Server.Addr)
	if load.IsLockstep(ctx, target) {
		fmt.Fprintln(stderr, say("burst: asking the server at", "burst：请求服务器"), target)
		return []string{target}, nothing, errors.Join(refuseSettings(cmd, target), checkFiles(buyers, false))
	}
	if err := checkFiles(buyers, true); err != nil {
		return nil, nil, err
	}
	cfg.Server.Addr, cfg.Redis.EmbeddedAddr = anyPort, anyPort
	own, err := openServer(ctx, cfg, newLog(stderr, "error"), api.OwnOrderIDs(uuid.NewString))
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(stderr, say("burst: no lockstep at %s, so this process is the buyers and the shop (%s, %s): the times include both\n",
		"burst：%s 没有 lockstep，由本进程同时充当买家和店铺（%s，%s），用时包含两者\n"), target, own.url(), own.redis.Name)
	return []string{own.url()}, own.close, nil
}

// refuseSettings refuses flags that have an effect only on a server of the burst's own.
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

// newProgress draws a bar if standard error is a terminal.
func newProgress(to io.Writer, requests int) (step func(int), finish func()) {
	if !isTerminal(to) {
		return func(int) {}, func() {}
	}
	return drawProgress(to, requests, time.Now().Add(time.Second)) // a shorter burst needs no bar
}

// drawProgress draws a bar from a moment on until it is finished; its line is then empty.
func drawProgress(to io.Writer, requests int, from time.Time) (step func(int), finish func()) {
	bar := progressbar.NewOptions(requests, progressbar.OptionSetWriter(to), progressbar.OptionSetDescription("sales"),
		progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	return func(done int) {
			if time.Now().After(from) {
				_ = bar.Set(done) // a bar that cannot be drawn is no reason to stop selling
			}
		}, func() {
			_ = bar.Clear()
			fmt.Fprint(to, "\r\033[K") // also what the terminal wrote beside it, such as ^C
		}
}
