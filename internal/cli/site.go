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

func newSite() *cobra.Command {
	var in language.Language
	var addr string
	cmd := &cobra.Command{
		Use:   "site [DIR]",
		Short: "Write the page for a host that has files alone: it runs in the reader's browser",
		Long: `site writes the page into a directory for any host of files, below any path. What answers it are
programs that the reader's browser runs: the locks, the sale, the embedded Redis, the explorer.

The go command compiles them from the sources here. That takes a minute or two, once: what was built
is kept in your cache, and a server that is started in these sources has it at /tab/.
Exit code: 0 written; 2 trouble.`,
		Example:     "  lockstep site public\n  lockstep site --serve :8081",
		Args:        cobra.MaximumNArgs(1),
		Annotations: map[string]string{noSettings: "it runs no server"},
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSite(cmd, args, addr, in)
		},
	}
	cmd.Flags().StringVar(&addr, "serve", "", "then serve it at this address, until interrupted")
	addLanguageFlag(cmd, &in)
	return cmd
}

func runSite(cmd *cobra.Command, args []string, addr string, in language.Language) error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	site, err := server.Site(here)
	if err != nil {
		return fmt.Errorf("site compiles the page's programs: %w", err)
	}
	site.Run = runner(site.Root)
	site.Tell = func(what language.Text, took time.Duration) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s (%.0f s)\n", what.In(in), took.Seconds())
	}
	if _, there, err := site.Find(); err == nil && !there {
		fmt.Fprintln(cmd.ErrOrStderr(), in.Say("Building the site: a minute or two, once.", "正在构建站点：需要一两分钟，只需一次。"))
	}
	dir, err := site.Build(cmd.Context())
	if err == nil && len(args) > 0 {
		var size int64
		if size, err = site.Copy(dir, args[0]); err == nil {
			fmt.Fprint(cmd.OutOrStdout(), in.Say("%s: %.1f MB, for any host of files\n", "%s：%.1f MB，可以放到任何静态托管\n",
				args[0], float64(size)/1e6))
		}
	}
	if err == nil && len(args) == 0 && addr == "" {
		fmt.Fprint(cmd.OutOrStdout(), in.Say("%s: kept; a server that is started here has it at /tab/\n", "%s：已保存；在此启动的服务器在 /tab/ 提供它\n", dir))
	}
	if err == nil && addr != "" {
		err = serveSite(cmd, dir, addr)
	}
	return err
}

// serveSite serves the files, as any host would.
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

// runner runs programs in a directory. What they print to standard error is in the error.
func runner(dir string) func(ctx context.Context, env []string, program string, args ...string) (string, error) {
	return func(ctx context.Context, env []string, program string, args ...string) (string, error) {
		command := exec.CommandContext(ctx, program, args...) //nolint:gosec // the site names them
		command.Dir, command.Env = dir, append(os.Environ(), env...)
		var errs strings.Builder
		command.Stderr = &errs
		output, err := command.Output()
		switch {
		case errors.Is(err, exec.ErrNotFound):
			err = fmt.Errorf("there is no %s command in the PATH, and it is needed: install Go, https://go.dev/dl (%w)", program, err)
		case err != nil:
			err = fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
		}
		return string(output), err
	}
}
