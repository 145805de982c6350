package language

import (
	"errors"
	"fmt"
	"strings"
)

// translatedError is an error with a Chinese text.
type translatedError struct {
	error

	chinese string
}

// Unwrap returns the error that was translated.
func (e *translatedError) Unwrap() error { return e.error }

// Translate adds a Chinese text to an error. It is a format for the values.
func Translate(err error, chinese string, values ...any) error {
	return &translatedError{err, fmt.Sprintf(chinese, values...)}
}

// TextOf returns the text of an error in a language. In Chinese, the text of the first error in its chain that Translate has made replaces
// the English one. What others have added to that error stays.
func TextOf(err error, in Language) string {
	text := err.Error()
	var translated *translatedError
	if in == Chinese && errors.As(err, &translated) {
		text = strings.Replace(text, translated.Error(), translated.chinese, 1)
	}
	return text
}
