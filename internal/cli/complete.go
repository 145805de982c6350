package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockstep/internal/explore"
)

// completeWith makes the shell complete the value of a flag with values. It panics if there is no such flag.
func completeWith(cmd *cobra.Command, flag string, values ...string) {
	complete(cmd, flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// complete makes the shell complete the value of a flag by a function. It panics if there is no such flag.
func complete(cmd *cobra.Command, flag string, with cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, with); err != nil {
		panic(err)
	}
}

// completeArgument completes the first argument of a command, and no further one.
func completeArgument(names func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFaults completes the last fault of a comma-separated list, with a count of 1. It leaves out faults that are in the list already.
func completeFaults(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndex(typed, ",")+1]
	var completions []string
	for _, name := range explore.FaultNames() {
		if !slices.ContainsFunc(strings.Split(before, ","), func(fault string) bool { return strings.HasPrefix(fault, name+"=") }) {
			completions = append(completions, before+name+"=1")
		}
	}
	return completions, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
