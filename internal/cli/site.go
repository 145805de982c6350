package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockstep/internal/language"
	"lockstep/internal/server"
)

// newSite returns the site command.
func newSite() *cobra.Command {
	var lang language.Language
	var addr string
	cmd := &cobra.Command{
		Use:   "site [DIR]",
		Short: "Write the page for a static web host: it runs in the browser",
		Long: `site writes the page into a directory that any static web host can serve, below any path. The
locks, the sale, the embedded Redis and the explorer run as programs in the reader's browser.

The go command compiles these programs from the source code in the current directory. That takes a
minute or two the first time; the result is cached, and a server that is started in this directory
serves it at /tab/. Exit code: 0 written; 2 after an error.`,
		Example:     "  lockstep site public\n  lockstep site --serve :8081",
		Args:        cobra.MaximumNArgs(1),
		Annotations: map[string]string{noSettings: "it runs no server"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSite(cmd, args, addr, lang)
		},
	}
	cmd.Flags().StringVar(&addr, "serve", "", "serve the site at this address afterwards, until interrupted")
	addLanguageFlag(cmd, &lang)
	return cmd
}

// runSite runs the site command.
func runSite(cmd *cobra.Command, args []string, addr string, lang language.Language) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	site, err := server.Site(here)
	if err != nil {
		return language.Translate(fmt.Errorf("site: compiling the programs of the page: %w", err),
			"site：编译页面里的程序：%s", language.TextOf(err, language.Chinese))
	}
	site.Run = commandRunner(site.Root)
	site.Report = func(what language.Text, took time.Duration) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s (%.0f s)\n", what.In(lang), took.Seconds())
	}
	if _, isBuilt, err := site.Find(); err == nil && !isBuilt {
		fmt.Fprintln(cmd.ErrOrStderr(), lang.Say("Building the site. This takes a minute or two the first time.",
			"正在构建站点：首次需要一两分钟。"))
	}
	dir, err := site.Build(cmd.Context())
	if err == nil && len(args) > 0 {
		var size int64
		if size, err = site.Copy(dir, args[0]); err == nil {
			fmt.Fprint(cmd.OutOrStdout(), lang.Say("%s: %.1f MB, ready for any static web host\n", "%s：%.1f MB，可以放到任何静态托管\n",
				args[0], float64(size)/1e6))
		}
	}
	if err == nil && len(args) == 0 && addr == "" {
		fmt.Fprint(cmd.OutOrStdout(), lang.Say("%s: cached; a server started in this directory serves it at /tab/\n",
			"%s：已缓存；在本目录启动服务器后，可以在 /tab/ 打开\n", dir))
	}
	if err == nil && addr != "" {
		err = serveSite(cmd, dir, addr)
	}
	return err
}

// serveSite serves the files of dir at an address, as any static web host would, until the command is cancelled.
func serveSite(cmd *cobra.Command, dir, addr string) error {
	listener, err := (&net.ListenConfig{}).Listen(cmd.Context(), "tcp", addr)
	if err != nil {
		return fmt.Errorf("--serve: %w", err)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "lockstep: http://%s\n", listener.Addr())
	files := &http.Server{Handler: http.FileServer(http.Dir(dir)), ReadHeaderTimeout: server.WriteTime}
	ended := make(chan error, 1)
	go func() { ended <- files.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-cmd.Context().Done():
		return files.Close()
	}
}

// commandRunner returns a function that runs a program in a directory and returns its standard output. Its errors contain what the program
// printed to standard error.
func commandRunner(dir string) func(ctx context.Context, env []string, program string, args ...string) (string, error) {
	return func(ctx context.Context, env []string, program string, args ...string) (string, error) {
		command := exec.CommandContext(ctx, program, args...) //nolint:gosec // package site chooses the program
		command.Dir, command.Env = dir, append(os.Environ(), env...)
		var errs strings.Builder
		command.Stderr = &errs
		output, err := command.Output()
		switch {
		case errors.Is(err, exec.ErrNotFound):
			err = language.Translate(fmt.Errorf("command %s not found in PATH: install Go, https://go.dev/dl (%w)", program, err),
				"PATH 里没有 %s 命令：请安装 Go，https://golang.google.cn/dl（%v）", program, err)
		case err != nil:
			err = fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
		}
		return string(output), err
	}
}
