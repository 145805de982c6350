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

// TextOf returns the text of an error in a language. In Chinese, it replaces the English text of the first translated error in the chain by
// the Chinese one. The text that wrapping errors add stays English.
func TextOf(err error, in Language) string {
	text := err.Error()
	var translated *translatedError
	if in == Chinese && errors.As(err, &translated) {
		text = strings.Replace(text, translated.Error(), translated.chinese, 1)
	}
	return text
}
