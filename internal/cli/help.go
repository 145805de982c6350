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

// helpWidth is the maximum width of help texts, in columns.
const helpWidth = 100

// settingsTopic is the name of the help topic that lists the settings.
const settingsTopic = "settings"

// noSettings is the key of the annotation on commands that take no settings; its value is the reason.
const noSettings = "no settings"

// showHelp prints the help of a command.
func showHelp(cmd *cobra.Command, _ []string) {
	fmt.Fprint(cmd.OutOrStdout(), help(cmd))
}

// help returns the help of a command: its description, its own flags, and how to list the settings if it takes any.
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
	if _, hasNoSettings := cmd.Annotations[noSettings]; !hasNoSettings {
		fmt.Fprintf(&b, "\nSettings, such as --lock.ttl 5s, are listed by: %s help %s\n", name, settingsTopic)
	}
	return b.String()
}

// newSettings returns the help topic on settings, which cannot be run.
func newSettings() *cobra.Command {
	return &cobra.Command{
		Use:   settingsTopic,
		Args:  cobra.NoArgs,
		Short: "List the settings for config.yaml, the environment and flags",
		Long: `Each setting is a flag, a key in config.yaml, and an environment variable. --lock.ttl 5s is

  lock:
    ttl: 5s

in the file and LOCKSTEP_LOCK_TTL=5s in the environment. A variable overrides the file; a flag
overrides both. A running server applies changes of lock, sale and inventory.initial in the file.`,
	}
}

// writeSettings lists the settings, group by group.
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

// untyped hides the type of a flag from its help: in the help of settings every flag would be a string.
type untyped struct{ pflag.Value }

// Type implements pflag.Value.
func (untyped) Type() string { return "" }
