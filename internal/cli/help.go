package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// helpWidth is how wide help is at most, in columns.
const helpWidth = 100

// settingsTopic is the name of the help that lists the settings.
const settingsTopic = "settings"

// noSettings marks the commands that take no settings, and says why.
const noSettings = "no settings"

// showHelp prints what a command does, its own flags, and how to list the settings, which nearly all commands take.
func showHelp(cmd *cobra.Command, _ []string) {
	fmt.Fprint(cmd.OutOrStdout(), help(cmd))
}

func help(cmd *cobra.Command) string {
	var b strings.Builder
	name := cmd.Root().CommandPath()
	fmt.Fprintln(&b, strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)))
	if cmd.Name() == settingsTopic {
		writeSettings(&b, cmd.Root().PersistentFlags())
		return b.String()
	}
	fmt.Fprintf(&b, "\nUsage:\n  %s\n", cmd.UseLine())
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND\n\nCommands:\n", cmd.CommandPath())
		for _, command := range cmd.Commands() {
			if command.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-11s %s\n", command.Name(), command.Short)
			}
		}
	}
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", strings.ReplaceAll(cmd.Example, productName+" ", name+" "))
	}
	fmt.Fprintf(&b, "\nFlags:\n%s", cmd.LocalNonPersistentFlags().FlagUsagesWrapped(helpWidth))
	if _, none := cmd.Annotations[noSettings]; !none {
		fmt.Fprintf(&b, "\nSettings, such as --lock.ttl 5s, are listed by: %s help %s\n", name, settingsTopic)
	}
	return b.String()
}

// newSettings returns a help topic, not a command.
func newSettings() *cobra.Command {
	return &cobra.Command{
		Use:   settingsTopic,
		Args:  cobra.NoArgs,
		Short: "What can be set, by a file, the environment or flags",
		Long: `Each of these is a flag, a line of config.yaml, and a variable of the environment: --lock.ttl 5s is

  lock:
    ttl: 5s

in the file, and LOCKSTEP_LOCK_TTL=5s in the environment. A variable overrides the file, and a flag
overrides both. A change of lock, sale or inventory in the file takes effect while a server runs.`,
	}
}

// writeSettings lists the settings by their groups.
func writeSettings(b *strings.Builder, settings *pflag.FlagSet) {
	groups := map[string]*pflag.FlagSet{}
	settings.VisitAll(func(flag *pflag.Flag) {
		group, _, isKey := strings.Cut(flag.Name, ".")
		if !isKey {
			group = ""
		}
		if groups[group] == nil {
			groups[group] = pflag.NewFlagSet(group, pflag.ContinueOnError)
		}
		shown := *flag
		shown.Value, shown.NoOptDefVal = untyped{flag.Value}, ""
		groups[group].AddFlag(&shown)
	})
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		fmt.Fprintf(b, "\n%s", groups[group].FlagUsagesWrapped(helpWidth))
	}
}

// untyped is a value whose type is not shown.
type untyped struct{ pflag.Value }

func (untyped) Type() string { return "" }
