package language

// Text is a text in every language. Only Both makes one, so that no translation is missing.
type Text struct{ english, chinese string }

// Both returns a text with its English and its Chinese form.
func Both(english, chinese string) Text { return Text{english, chinese} }

// In returns the text in a language; in English if the language is unknown.
func (t Text) In(l Language) string {
	if l == Chinese {
		return t.chinese
	}
	return t.english
}
