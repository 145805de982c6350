package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockstep/internal/evolution"
)

// suggest adds to an error the names that may have been meant by one that is none of them.
func suggest(err error, typed string, names []string) error {
	like := alike(typed, names)
	if len(like) == 0 {
		return err
	}
	return fmt.Errorf("%w; did you mean %s?", err, strings.Join(like, " or "))
}

// fewNames is how many suggestions are still a help.
const fewNames = 3

// alike returns the few names that resemble what was typed, or begin or end with it. cobra compares names, but only those of commands.
func alike(typed string, names []string) []string {
	if typed == "" {
		return nil
	}
	all := &cobra.Command{SuggestionsMinimumDistance: 1 + len(typed)/5}
	for _, name := range names {
		if strings.EqualFold(name, typed) {
			return []string{name}
		}
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	like := all.SuggestionsFor(typed)
	for _, name := range names { // lock.ttl, of ttl
		if strings.HasSuffix(name, "."+typed) && !slices.Contains(like, name) {
			like = append(like, name)
		}
	}
	if len(like) > fewNames {
		return nil
	}
	return like
}

// meantLock adds to the error of evolution.Find which lock may have been meant.
func meantLock(err error, name string) error {
	if errors.Is(err, evolution.ErrUnknown) {
		return suggest(err, name, evolution.Names())
	}
	return err
}

// noCommand refuses an argument that is not a command.
func noCommand(cmd *cobra.Command, args []string) error {
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
	return suggest(err, args[0], names)
}

// noFlag suggests what may have been meant by an unknown flag. Its value is not shown: it may be a secret.
func noFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	if short := unknown.GetSpecifiedShortnames(); short != "" {
		name, _, _ := strings.Cut(short, "=") // what follows may be a secret
		return fmt.Errorf("there is no flag -%s; one of more than a letter begins with two dashes; %s --help lists what there is",
			name, cmd.CommandPath())
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !flag.Hidden {
			names = append(names, flag.Name)
		}
	})
	like := alike(unknown.GetSpecifiedName(), names)
	for i := range like {
		like[i] = "--" + like[i]
	}
	if len(like) == 0 {
		return fmt.Errorf("%w; %s --help lists what there is", err, cmd.CommandPath())
	}
	return fmt.Errorf("%w; did you mean %s?", err, strings.Join(like, " or "))
}
