package cli

import (
	"os"

	"github.com/spf13/cobra"

	"lockstep/internal/language"
)

// addLanguageFlag adds --lang to a command, and sets lang to its default, the user's language.
func addLanguageFlag(cmd *cobra.Command, lang *language.Language) {
	*lang = language.OfUser(os.Getenv)
	cmd.Flags().Var(lang, "lang", "language of the output: en or zh")
	completeWith(cmd, "lang", language.Names()...)
}

// languageOf returns the language of a command: that of its --lang, or else the user's.
func languageOf(cmd *cobra.Command) language.Language {
	if flag := cmd.Flags().Lookup("lang"); flag != nil {
		return language.Language(flag.Value.String())
	}
	return language.OfUser(os.Getenv)
}

// langTyped returns " --lang X" if --lang was given, for the commands that hints show; otherwise "".
func langTyped(cmd *cobra.Command) string {
	if flag := cmd.Flags().Lookup("lang"); flag.Changed {
		return " --lang " + flag.Value.String()
	}
	return ""
}
