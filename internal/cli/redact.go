package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lockstep/internal/config"
	"lockstep/internal/language"
)

// refuseSettings makes the commands that are marked with noSettings reject the flags of settings.
func refuseSettings(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		why, hasNoSettings := cmd.Annotations[noSettings]
		if !hasNoSettings {
			continue
		}
		cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
			var changed []string
			cmd.Flags().Visit(func(flag *pflag.Flag) {
				if cmd.LocalFlags().Lookup(flag.Name) == nil {
					changed = append(changed, "--"+flag.Name)
				}
			})
			if len(changed) > 0 {
				return language.Translate(fmt.Errorf("%s: %s takes no settings: %s", strings.Join(changed, ", "), cmd.Name(), why),
					"%s：%s 不用这些设置", strings.Join(changed, "、"), cmd.Name())
			}
			return nil
		}
	}
}

// redactArgErrors keeps arguments out of cobra's errors if they may be part of a secret, such as a password with a space and no quotes.
func redactArgErrors(root *cobra.Command) {
	for _, cmd := range append(root.Commands(), root) {
		check := cmd.Args
		if check == nil {
			continue
		}
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			err := check(cmd, args)
			if err != nil && hasSecretFlag(cmd.Flags()) {
				return language.Translate(
					errors.New("unexpected argument (hidden: it may be part of a secret); quote values that contain spaces"),
					"多余的参数（可能含有密码，不显示）；含空格的值要加引号")
			}
			return err
		}
	}
}

// hasSecretFlag reports whether a flag was given whose value may hold a secret, or one that was meant for another flag of its group. The
// address of the embedded Redis holds none.
func hasSecretFlag(flags *pflag.FlagSet) (found bool) {
	flags.Visit(func(flag *pflag.Flag) {
		found = found || config.IsSecret(flag.Name) && flag.Name != "redis.embedded_addr"
	})
	return found
}
