// Package language has the languages that lockstep speaks, and texts that say the same in each of them.
package language

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Language is one that lockstep speaks. It is the value of a flag, too.
type Language string

// The languages.
const (
	English Language = "en"
	Chinese Language = "zh"
)

// ErrUnknown means that lockstep does not speak a language.
var ErrUnknown = errors.New("it takes en or zh")

// All gives the languages, English first.
func All() []Language { return []Language{English, Chinese} }

// Names gives the names of all, as people type them.
func Names() (names []string) {
	for _, l := range All() {
		names = append(names, string(l))
	}
	return names
}

// Parse reads the name of a language.
func Parse(name string) (Language, error) {
	for _, l := range All() {
		if name == string(l) {
			return l, nil
		}
	}
	return "", fmt.Errorf("%q: %w", name, ErrUnknown)
}

// OfUser is the language that the user's system speaks, as far as it is one of ours; otherwise English. It is told by the environment,
// as programs usually are.
func OfUser(getenv func(variable string) string) Language {
	if strings.HasPrefix(cmp.Or(getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG")), "zh") {
		return Chinese
	}
	return English
}

// Set is Parse, for a flag.
func (l *Language) Set(name string) (err error) {
	parsed, err := Parse(name)
	if err == nil {
		*l = parsed
	}
	return err
}

// String is the name, for a flag.
func (l *Language) String() string { return string(*l) }

// Type is what the value of a flag is, in its help.
func (l *Language) Type() string { return "language" }

// Say formats the values by the text of a language.
func (l Language) Say(english, chinese string, values ...any) string {
	return fmt.Sprintf(Both(english, chinese).In(l), values...)
}
