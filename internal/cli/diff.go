package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
	"lockstep/internal/steps"
	"lockstep/internal/web"
)

// diffFlags holds the parsed flags of diff.
type diffFlags struct {
	stat, asJSON bool
	html         string // file for the page; empty: no page
	lang         language.Language
}

// newDiff returns the diff command.
func newDiff() *cobra.Command {
	var f diffFlags
	cmd := &cobra.Command{
		Use:   "diff [FROM [TO]]",
		Short: "Show how the code changes from one lock to the next",
		Long: `diff shows a step of the evolution: the Go and Lua code that changes, and the parts of
internal/lock that this step is the first to use, in reading order. Package comments and imports
come last. With one name it shows the step to the next lock; without a name it lists the steps.

In a terminal, long lines are wrapped; from 160 columns on, old and new lines are shown side by
side. If NO_COLOR is set, or the terminal is dumb, the output has no colors.`,
		Example:           "  lockstep diff v3 v4\n  lockstep diff v5 --stat\n  lockstep diff v9 redlock --html redlock.html",
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: completeStep,
		Annotations:       map[string]string{noSettings: "it only shows code"},
		RunE:              func(cmd *cobra.Command, args []string) error { return runDiff(cmd, args, f) },
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.stat, "stat", false, "print the numbers of added and removed lines of each file, without comments")
	flags.BoolVar(&f.asJSON, "json", false, "print one JSON document to standard output")
	flags.StringVar(&f.html, "html", "", "also write the step to this file: a page that needs no server")
	addLanguageFlag(cmd, &f.lang)
	return cmd
}

// runDiff runs the diff command.
func runDiff(cmd *cobra.Command, args []string, f diffFlags) (err error) {
	switch {
	case f.stat && f.asJSON:
		return language.Translate(errors.New("--stat and --json cannot be combined"), "--stat 和 --json 不能同用")
	case f.html != "" && len(args) == 0:
		return language.Translate(errors.New("--html writes one step: name it"), "--html 写出一版的改动：请指定是哪一版")
	}
	for _, name := range args {
		if _, err := evolution.Find(name); err != nil {
			return suggestLock(err, name)
		}
	}
	if len(args) == 0 {
		return f.list(cmd)
	}
	to := ""
	if len(args) == 2 {
		to = args[1]
	}
	step, err := steps.Between(args[0], to, f.lang)
	if err != nil {
		return err
	}
	page, err := web.OpenFile(f.html)
	if err != nil {
		return err
	}
	return errors.Join(f.show(cmd, step), page.Write([]byte(step.HTML(cmd.Root().CommandPath(), f.lang))), page.Close())
}

// show prints a step in the format that the flags select.
func (f diffFlags) show(cmd *cobra.Command, step steps.Detail) (err error) {
	out := cmd.OutOrStdout()
	t := steps.Terminal{
		Columns: terminalWidth(out), Colored: isTerminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		Typed: cmd.Root().CommandPath(), Lang: langTyped(cmd),
	}
	switch {
	case f.asJSON:
		return web.WriteJSON(out, step)
	case f.stat:
		_, err = io.WriteString(out, step.Stat(t, f.lang))
	default:
		_, err = io.WriteString(out, step.Text(t, f.lang))
	}
	return err
}

// list prints a table of all steps.
func (f diffFlags) list(cmd *cobra.Command) error {
	all := steps.All(f.lang)
	if f.asJSON {
		return web.WriteJSON(cmd.OutOrStdout(), all)
	}
	table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, language.Both("STEP\tLINES\tADDS", "版本\t改动行数\t加了什么").In(f.lang))
	for _, s := range all {
		step, err := steps.Find(s.Pair(), f.lang)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%s %s\t+%d −%d\t%s\n", s.From, s.To, step.Added(), step.Removed(), s.Adds)
	}
	return table.Flush()
}

// completeStep completes the locks of a step: first FROM, then the locks that follow it.
func completeStep(_ *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	for _, s := range steps.All(language.English) {
		switch {
		case len(args) == 0 && !slices.Contains(names, s.From):
			names = append(names, s.From)
		case len(args) == 1 && s.From == args[0]:
			names = append(names, s.To)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
