// Package language holds texts in each language of the program: English and Chinese.
package language

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// Language is a language of the program. *Language implements pflag.Value.
type Language string

// The languages.
const (
	English Language = "en"
	Chinese Language = "zh"
)

// ErrUnknown is returned by Parse for anything but en and zh.
var ErrUnknown = errors.New("it takes en or zh")

// All returns the languages, English first.
func All() []Language { return []Language{English, Chinese} }

// Names returns the names of all languages, as users type them.
func Names() (names []string) {
	for _, l := range All() {
		names = append(names, string(l))
	}
	return names
}

// Parse returns the language of a name. It fails with ErrUnknown.
func Parse(name string) (Language, error) {
	for _, l := range All() {
		if name == string(l) {
			return l, nil
		}
	}
	return "", fmt.Errorf("%q: %w", name, ErrUnknown)
}

// OfUser returns the language that the environment names in LC_ALL, LC_MESSAGES or LANG, in this order: Chinese, or else English.
func OfUser(getenv func(variable string) string) Language {
	if strings.HasPrefix(cmp.Or(getenv("LC_ALL"), getenv("LC_MESSAGES"), getenv("LANG")), "zh") {
		return Chinese
	}
	return English
}

// Set parses the value of a flag.
func (l *Language) Set(name string) (err error) {
	parsed, err := Parse(name)
	if err == nil {
		*l = parsed
	}
	return err
}

// String returns the name of the language.
func (l *Language) String() string { return string(*l) }

// Type returns the kind of the flag's value, for its help.
func (l *Language) Type() string { return "language" }

// Say formats the values by the English or the Chinese format.
func (l Language) Say(english, chinese string, values ...any) string {
	return fmt.Sprintf(Both(english, chinese).In(l), values...)
}
