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

// anyPort is the listen address of a server that only this burst uses: any free port on loopback.
const anyPort = "127.0.0.1:0"

// burstFlags holds the parsed flags of burst.
type burstFlags struct {
	load.Burst
	asJSON bool
	retry  bool   // true: unknown requests are repeated with the same Idempotency-Key
	html   string // file for the page of --html; empty: no page
	lang   language.Language
}

// newBurst returns the burst command.
func newBurst() *cobra.Command {
	var f burstFlags
	cmd := &cobra.Command{
		Use:   "burst",
		Short: "Start many buyers at once and print the verdict",
		Long: `burst starts a new run, starts all buyers at the same moment, and reads the verdict. Exit code:
0 PASS; 1 OVERSOLD or UNDERSOLD; 2 UNKNOWN, or an error. It sends its requests to --target;
without one, to the server at server.addr if lockstep answers there, and otherwise to a server that
it starts itself. A server that it starts uses all settings; with any other, burst reads only
admin.token. It does not follow redirects, and shows text from a server in quotes.

A request counts as answered if the answer is sold or sold out. A failed request sold nothing. A
request is unknown if it may have sold: it got no answer, outcome_unknown, bad_gateway, or an answer
that is not lockstep's. If fewer than 99 % were answered (--min-answered), a PASS becomes UNKNOWN;
OVERSOLD and UNDERSOLD are kept.
With --retry each request carries an Idempotency-Key, and an unknown request is repeated with that
key until it is sold or sold out. It remains unknown after --timeout.

If the ledger cannot be read, burst tries again for 30 seconds; then the verdict is UNKNOWN. The
verdict is UNKNOWN as well if the ledger lacks orders that buyers were told of, unless the ledger
shows OVERSOLD.`,
		Example: "  lockstep burst -n 1000 -c 1000 --lock v0\n  lockstep burst -n 200 -c 200 --lock v4",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return f.burst(cmd) },
	}
	flags := cmd.Flags()
	flags.IntVarP(&f.Requests, "requests", "n", 200, "number of requests to send")
	flags.IntVarP(&f.Buyers, "buyers", "c", 200, "number of concurrent buyers")
	flags.Int64Var(&f.Stock, "stock", 0, "initial stock of the run (default: the number of requests)")
	flags.StringVar(&f.Lock, "lock", "", "switch to this lock first: "+strings.Join(evolution.Names(), ", "))
	flags.StringSliceVar(&f.Targets, "target", nil, "base URL of a server; with several, requests go to each in turn")
	flags.DurationVar(&f.Timeout, "timeout", 2*time.Minute,
		"longest wait for one answer; if no buyer gets an answer for that long, no more requests are sent")
	flags.Float64Var(&f.MinAnswered, "min-answered", 0.99, "minimum share of answered requests for a PASS; 0: no minimum")
	flags.BoolVar(&f.retry, "retry", false, "repeat unknown requests with the same Idempotency-Key, for at most --timeout")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document to standard output")
	flags.StringVar(&f.html, "html", "",
		"also write the result, and what the locks did, to this file: a page that needs no server")
	addLanguageFlag(cmd, &f.lang)
	completeWith(cmd, "lock", evolution.Names()...)
	return cmd
}

// burst runs the command.
func (f burstFlags) burst(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("stock") {
		f.Stock = int64(f.Requests)
	}
	if err := f.Check(); err != nil {
		return err
	}
	if f.Lock != "" {
		if _, err := evolution.Find(f.Lock); err != nil {
			return suggestLock(err, f.Lock)
		}
	}
	closeTarget, err := f.findTargets(cmd)
	if err != nil {
		return err
	}
	result, err := f.run(cmd)
	if err = errors.Join(err, closeTarget()); err != nil { // An output error decides the exit code, whatever the verdict.
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
		err = result.Print(cmd.OutOrStdout(), f.lang)
	}
	return result, errors.Join(err, page.write(cmd.Context(), result), page.close())
}

// findTargets sets the target servers and their token, prints the targets as the first line, and starts a server if none is running. The
// caller must call closeTarget.
func (f *burstFlags) findTargets(cmd *cobra.Command) (closeTarget func() error, err error) {
	prefix := f.lang.Say("burst: asking", "burst：请求")
	for i, target := range f.Targets {
		if f.Targets[i], err = checkTarget(cmd, target); err != nil {
			return nil, err
		}
	}
	var probeErr error // why server.addr was not used; nil: it was not probed
	target := ""
	if len(f.Targets) == 0 {
		client, err := loadOnly(cmd, "server.addr")
		if err != nil {
			return nil, err
		}
		target = client.Server.URL()
		if probeErr = load.Probe(cmd.Context(), target); probeErr == nil {
			f.Targets, prefix = []string{target}, f.lang.Say("burst: asking the server at", "burst：请求服务器")
		}
	}
	buyers := min(f.Requests, f.Buyers)
	if len(f.Targets) == 0 {
		return f.startTarget(cmd, target, probeErr, buyers)
	}
	client, err := loadOnly(cmd, "admin.token", "admin.token_file")
	if err != nil {
		return nil, err
	}
	f.Token = client.Admin.Token
	var display []string
	for _, target := range f.Targets {
		display = append(display, load.DisplayURL(target))
	}
	fmt.Fprintln(cmd.ErrOrStderr(), prefix, strings.Join(display, ", "))
	return func() error { return nil }, errors.Join(refuseServers(cmd, display[0]), load.CheckFileLimit(buyers, false))
}

// checkTarget returns a --target as a base URL without a trailing slash. It fails unless lockstep answers there.
func checkTarget(cmd *cobra.Command, target string) (string, error) {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.ContainsAny(target, "?#") {
		display := language.Both(strconv.Quote(target), strconv.Quote(target))
		if strings.Contains(target, "@") {
			display = language.Both("this value", "这个值") // The part before @ may be a password.
		}
		return "", language.Translate(
			fmt.Errorf("--target %s is not allowed: want a URL such as http://127.0.0.1:8080", display.In(language.English)),
			"--target 不能是 %s：要写成 http://127.0.0.1:8080 这样的 URL", display.In(language.Chinese))
	}
	target = strings.TrimSuffix(target, "/")
	switch err := load.Probe(cmd.Context(), target); {
	case errors.Is(err, load.ErrNotListening):
		return "", language.Translate(fmt.Errorf("--target %s: lockstep does not answer there; start it with: %s serve",
			load.DisplayURL(target), cmd.Root().CommandPath()),
			"--target %s：那里没有 lockstep 响应；先启动：%s serve", load.DisplayURL(target), cmd.Root().CommandPath())
	case err != nil:
		return "", fmt.Errorf("--target %s: %w", load.DisplayURL(target), err)
	}
	return target, nil
}

// startTarget starts a server in this process and makes it the only target. why is the error of probing the address missing.
func (f *burstFlags) startTarget(cmd *cobra.Command, missing string, why error, buyers int) (closeTarget func() error, err error) {
	cfg, err := loadConfig(cmd)
	if err != nil {
		return nil, language.Translate(fmt.Errorf("lockstep does not answer at %s, and burst cannot start a server itself: %w", missing, err),
			"%s 没有 lockstep 响应，burst 自己也启动不了服务器：%s", missing, language.TextOf(err, language.Chinese))
	}
	if err := load.CheckFileLimit(buyers, true); err != nil {
		return nil, err
	}
	stderr := cmd.ErrOrStderr()
	cfg.Server.Addr, cfg.Redis.EmbeddedAddr = anyPort, anyPort
	logs := newLogWriter(stderr)
	logs.release()
	own, err := server.Open(cmd.Context(), cfg, server.Options{Log: newLog(logs, "error"), LostLines: logs.lostLines})
	if err != nil {
		logs.close()
		return nil, err
	}
	if !errors.Is(why, load.ErrNotListening) {
		missing = f.lang.Say("%s (%s)", "%s（%s）", missing, language.TextOf(why, f.lang))
	}
	fmt.Fprint(stderr, f.lang.Say(
		"burst: no lockstep at %s; this process is both the buyers and the shop (%s, %s), and the times include both\n",
		"burst：%s 没有 lockstep，由本进程同时充当买家和商店（%s，%s），用时包含两者\n", missing, own.URL(),
		strings.Replace(own.Redis.Name, "embedded", f.lang.Say("embedded", "内嵌"), 1)))
	f.Targets, f.Token = []string{own.URL()}, cfg.Admin.Token
	return func() error {
		defer logs.close()
		return own.Close()
	}, nil
}

// refuseServers rejects settings that would only affect a server started by burst; target, which is running already, ignores them.
func refuseServers(cmd *cobra.Command, target string) (err error) {
	var chinese []string
	for _, name := range changedSettings(cmd) {
		if !strings.HasPrefix(name, "server.") && !strings.HasPrefix(name, "admin.") {
			err = errors.Join(err, fmt.Errorf("--%s is not allowed: it only affects a server started by burst, and %s is running already; "+
				"to switch the lock of that server, use --lock", name, target))
			chinese = append(chinese, fmt.Sprintf("不能用 --%s：它只影响 burst 自己启动的服务器，而 %s 已在运行；要切换那里的锁，用 --lock", name, target))
		}
	}
	if err == nil {
		return nil
	}
	return language.Translate(err, "%s", strings.Join(chinese, "\n"))
}

// newProgress draws a progress bar if the writer is a terminal. step sets the number of answers; finish erases the bar.
func newProgress(to io.Writer, requests int) (step func(int), finish func()) {
	if !isTerminal(to) {
		return func(int) {}, func() {}
	}
	return drawProgress(to, requests, time.Now().Add(barDelay))
}

// barDelay is the time before a progress bar appears: in a burst that ends sooner, it would only flicker.
const barDelay = time.Second

// drawProgress draws a progress bar from the time from on. finish leaves its line empty.
func drawProgress(to io.Writer, requests int, from time.Time) (step func(int), finish func()) {
	bar := progressbar.NewOptions(requests, progressbar.OptionSetWriter(to), progressbar.OptionSetDescription("sales"),
		progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	return func(done int) {
			if time.Now().After(from) {
				_ = bar.Set(done) // A failure to draw the bar must not stop the burst.
			}
		}, func() {
			_ = bar.Clear()
			fmt.Fprint(to, "\r\033[K") // Bar.Clear leaves what the terminal echoed on the line, such as ^C.
		}
}
