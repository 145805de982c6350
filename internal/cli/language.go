package cli

import (
	"os"

	"github.com/spf13/cobra"

	"lockstep/internal/language"
)

// addLanguageFlag returns a command the flag that says in which language it speaks: the user's, unless it is given.
func addLanguageFlag(cmd *cobra.Command, in *language.Language) {
	*in = language.OfUser(os.Getenv)
	cmd.Flags().Var(in, "lang", "en or zh: the language")
	completeWith(cmd, "lang", language.Names()...)
}

// langTyped returns that flag as it was typed, for a command that is printed; nothing, if it was not.
func langTyped(cmd *cobra.Command) string {
	if flag := cmd.Flags().Lookup("lang"); flag.Changed {
		return " --lang " + flag.Value.String()
	}
	return ""
}
