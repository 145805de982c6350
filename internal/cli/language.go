package cli

import (
	"cmp"
	"os"
	"strings"

	"lockstep/internal/witness"
)

// languageOfUser is the language that the user's system speaks, as far as it is one of ours.
func languageOfUser() witness.Language {
	if strings.HasPrefix(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG")), "zh") {
		return witness.Chinese
	}
	return witness.English
}
