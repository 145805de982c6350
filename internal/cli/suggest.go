package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockstep/internal/evolution"
	"lockstep/internal/language"
)

// suggest adds to an error about an unknown name the names that may have been meant.
func suggest(err error, typed string, names []string) error {
	closest := closestNames(typed, names)
	if len(closest) == 0 {
		return err
	}
	return language.Translate(fmt.Errorf("%w; did you mean %s?", err, strings.Join(closest, " or ")),
		"%s。是不是 %s？", language.TextOf(err, language.Chinese), strings.Join(closest, " 或 "))
}

// maxSuggestions is the number of suggestions that still help. If more names are close, none is suggested.
const maxSuggestions = 3

// charsPerTypo is the number of typed characters that allow one more typing error: names of up to four characters allow one.
const charsPerTypo = 5

// closestNames returns the names that resemble what was typed, or begin or end with it; none if there are more than maxSuggestions. Cobra
// compares only names of commands, so closestNames passes the names to it as commands.
func closestNames(typed string, names []string) []string {
	if typed == "" {
		return nil
	}
	all := &cobra.Command{SuggestionsMinimumDistance: 1 + len(typed)/charsPerTypo}
	for _, name := range names {
		if strings.EqualFold(name, typed) {
			return []string{name}
		}
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	closest := all.SuggestionsFor(typed)
	for _, name := range names { // "ttl" means "lock.ttl".
		if strings.HasSuffix(name, "."+typed) && !slices.Contains(closest, name) {
			closest = append(closest, name)
		}
	}
	if len(closest) > maxSuggestions {
		return nil
	}
	return closest
}

// suggestLock adds to an error of evolution.Find the lock that may have been meant.
func suggestLock(err error, name string) error {
	if errors.Is(err, evolution.ErrUnknown) {
		return suggest(err, name, evolution.Names())
	}
	return err
}

// rejectArguments rejects an argument of the root command: it is not the name of a command.
func rejectArguments(cmd *cobra.Command, args []string) error {
	err := cobra.NoArgs(cmd, args)
	if err == nil {
		return nil
	}
	var names []string
	for _, command := range cmd.Commands() {
		if command.IsAvailableCommand() {
			names = append(names, command.Name())
		}
	}
	return suggest(language.Translate(err, "没有“%s”这个命令", args[0]), args[0], names)
}

// explainFlagError adds to the error of an unknown flag the flags that may have been meant. It hides the value, which may be a secret.
func explainFlagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		name, _, _ := strings.Cut(short, "=") // The value after = may be a secret.
		return fmt.Errorf("unknown flag: -%s; flags of more than one letter begin with two dashes; %s --help lists all flags",
			name, cmd.CommandPath())
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, flag.Name)
		}
	})
	closest := closestNames(unknown.GetSpecifiedName(), names)
	for i := range closest {
		closest[i] = "--" + closest[i]
	}
	if len(closest) == 0 {
		return fmt.Errorf("%w; %s --help lists all flags", err, cmd.CommandPath())
	}
	return fmt.Errorf("%w; did you mean %s?", err, strings.Join(closest, " or "))
}
