package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/load"
	"lockstep/internal/server"
)

// anyPort is where a server listens that only its own burst will ask.
const anyPort = "127.0.0.1:0"

// burstFlags are those of burst, as given.
type burstFlags struct {
	load.Burst
	asJSON bool
	retry  bool
	html   string
	in     language.Language
}

func newBurst() *cobra.Command {
	var f burstFlags
	cmd := &cobra.Command{
		Use:   "burst",
		Short: "Let many buyers loose at once, and give the verdict",
		Long: `burst starts a new run, lets the buyers loose together, and reads the verdict: exit code 0 PASS,
1 OVERSOLD or UNDERSOLD, 2 UNKNOWN or trouble. It asks the --target, or the server at server.addr
if one answers there, or else one of its own. Of the settings it then heeds admin.token alone, and
all of them for a server of its own. It follows no redirect, and quotes what a server says.

A request is answered by sold or sold out. One that failed sold nothing. One is unknown if it may
have sold: its answer was outcome_unknown, bad_gateway, or not a shop's, or there was none. Where
fewer than 99 % were answered (--min-answered), a PASS is UNKNOWN; OVERSOLD and UNDERSOLD stay
what they are.
With --retry each request has an Idempotency-Key, and one that is unknown is asked again with it
until it is known: sold, or sold out. After --timeout it stays unknown.

Where the ledger cannot be read, burst tries again for half a minute, and then says what it knows:
UNKNOWN. So is a ledger that lacks orders that buyers were told of, unless it shows OVERSOLD.`,
		Example: "  lockstep burst -n 1000 -c 1000 --lock v0\n  lockstep burst -n 200 -c 200 --lock v4",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.burst(cmd) },
	}
	flags := cmd.Flags()
	flags.IntVarP(&f.Requests, "requests", "n", 200, "how many sales to ask for")
	flags.IntVarP(&f.Buyers, "buyers", "c", 200, "how many buyers ask at once")
	flags.Int64Var(&f.Stock, "stock", 0, "stock of the run (default: as many as requests)")
	flags.StringVar(&f.Lock, "lock", "", "switch to this lock first: "+strings.Join(evolution.Names(), ", "))
	flags.StringSliceVar(&f.Targets, "target", nil, "URL of a server, or several between which the buyers take turns")
	flags.DurationVar(&f.Timeout, "timeout", 2*time.Minute,
		"longest wait of a buyer for one answer; when nobody has had one for so long, no more are sent")
	flags.Float64Var(&f.MinAnswered, "min-answered", 0.99, "share of the requests that must be answered for a PASS; 0: any will do")
	flags.BoolVar(&f.retry, "retry", false, "a buyer in doubt asks again with the same Idempotency-Key, for --timeout at most")
	flags.BoolVar(&f.asJSON, "json", false, "one JSON document on standard output")
	flags.StringVar(&f.html, "html", "",
		"write the result to this file too, and what the locks did: one page that needs no server")
	addLanguageFlag(cmd, &f.in)
	completeWith(cmd, "lock", evolution.Names()...)
	return cmd
}

func (f burstFlags) burst(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("stock") {
		f.Stock = int64(f.Requests)
	}
	if err := f.Check(); err != nil {
		return err
	}
	if f.Lock != "" {
		if _, err := evolution.Find(f.Lock); err != nil {
			return meantLock(err, f.Lock)
		}
	}
	closeTarget, err := f.findTargets(cmd)
	if err != nil {
		return err
	}
	result, err := f.run(cmd)
	if err = errors.Join(err, closeTarget()); err != nil { // a file that cannot be written is trouble, whatever the verdict
		return err
	}
	return exitWith(nil, result.Verdict.ExitCode())
}

// run runs the burst, prints its result, and writes the page of --html.
func (f burstFlags) run(cmd *cobra.Command) (load.Result, error) {
	page, err := openBurstPage(cmd, f)
	if err != nil {
		return load.Result{}, err
	}
	progress, finish := newProgress(cmd.ErrOrStderr(), f.Requests)
	f.Progress = progress
	if f.retry {
		f.NewKey = uuid.NewString
	}
	result, err := f.Run(cmd.Context())
	finish()
	if err != nil {
		return result, errors.Join(err, page.close())
	}
	if f.asJSON {
		err = json.NewEncoder(cmd.OutOrStdout()).Encode(result)
	} else {
		err = result.Print(cmd.OutOrStdout(), f.in)
	}
	return result, errors.Join(err, page.write(cmd.Context(), result), page.close())
}

// findTargets sets the servers that the buyers ask, and the token, says so in the first line, and starts a server if there is none.
func (f *burstFlags) findTargets(cmd *cobra.Command) (closeTarget func() error, err error) {
	says := f.in.Say("burst: asking", "burst：请求")
	for i, target := range f.Targets {
		if f.Targets[i], err = checkTarget(cmd, target); err != nil {
			return nil, err
		}
	}
	why, target := error(nil), ""
	if len(f.Targets) == 0 {
		client, err := loadOnly(cmd, "server.addr")
		if err != nil {
			return nil, err
		}
		target = client.Server.URL()
		if why = load.Probe(cmd.Context(), target); why == nil {
			f.Targets, says = []string{target}, f.in.Say("burst: asking the server at", "burst：请求服务器")
		}
	}
	buyers := min(f.Requests, f.Buyers)
	if len(f.Targets) == 0 {
		return f.startTarget(cmd, target, why, buyers)
	}
	client, err := loadOnly(cmd, "admin.token")
	if err != nil {
		return nil, err
	}
	f.Token = client.Admin.Token
	var shown []string
	for _, target := range f.Targets {
		shown = append(shown, load.Shown(target))
	}
	fmt.Fprintln(cmd.ErrOrStderr(), says, strings.Join(shown, ", "))
	return func() error { return nil }, errors.Join(refuseServers(cmd, shown[0]), load.CheckFiles(buyers, false))
}

// checkTarget returns a --target as the base of URLs. It fails unless a lockstep answers there.
func checkTarget(cmd *cobra.Command, target string) (string, error) {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.ContainsAny(target, "?#") {
		shown := strconv.Quote(target)
		if strings.Contains(target, "@") {
			shown = "this value" // a part of it may be a password
		}
		return "", fmt.Errorf("--target %s is not allowed: want a URL such as http://127.0.0.1:8080", shown)
	}
	target = strings.TrimSuffix(target, "/")
	switch err := load.Probe(cmd.Context(), target); {
	case errors.Is(err, load.ErrNobody):
		return "", fmt.Errorf("--target %s: no lockstep answers there; start one with: %s serve", load.Shown(target), cmd.Root().CommandPath())
	case err != nil:
		return "", fmt.Errorf("--target %s: %w", load.Shown(target), err)
	}
	return target, nil
}

// startTarget starts a server, as there is none at an address, and sets it as the only target.
func (f *burstFlags) startTarget(cmd *cobra.Command, missing string, why error, buyers int) (closeTarget func() error, err error) {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return nil, fmt.Errorf("no lockstep answers at %s, and a server of the burst's own cannot start: %w", missing, err)
	}
	if err := load.CheckFiles(buyers, true); err != nil {
		return nil, err
	}
	stderr := cmd.ErrOrStderr()
	cfg.Server.Addr, cfg.Redis.EmbeddedAddr = anyPort, anyPort
	logged := newLogWriter(stderr)
	logged.release()
	own, err := server.Open(cmd.Context(), cfg, server.Options{Log: newLog(logged, "error"), LostLines: logged.lostLines})
	if err != nil {
		logged.close()
		return nil, err
	}
	if !errors.Is(why, load.ErrNobody) {
		missing = fmt.Sprintf("%s (%v)", missing, why)
	}
	fmt.Fprint(stderr, f.in.Say("burst: no lockstep at %s, so this process is the buyers and the shop (%s, %s): the times include both\n",
		"burst：%s 没有 lockstep，由本进程同时充当买家和商店（%s，%s），用时包含两者\n", missing, own.URL(), own.Redis.Name))
	f.Targets, f.Token = []string{own.URL()}, cfg.Admin.Token
	return func() error {
		defer logged.close()
		return own.Close()
	}, nil
}

// refuseServers refuses settings that have an effect only on a server of the burst's own.
func refuseServers(cmd *cobra.Command, target string) (err error) {
	for _, name := range settingsGiven(cmd) {
		if !strings.HasPrefix(name, "server.") && !strings.HasPrefix(name, "admin.") {
			err = errors.Join(err, fmt.Errorf("--%s is not allowed: it is for a server of the burst's own, and %s is running already; "+
				"to switch its lock give --lock", name, target))
		}
	}
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
