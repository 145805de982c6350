package language

// Text is a text in every language. Only Both makes one, so none is missing.
type Text struct{ english, chinese string }

// Both gives a text that has these two forms.
func Both(english, chinese string) Text { return Text{english, chinese} }

// In gives the text in a language; in English, if it is none of ours.
func (t Text) In(l Language) string {
	if l == Chinese {
		return t.chinese
	}
	return t.english
}
