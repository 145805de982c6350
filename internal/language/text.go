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

// Dictionary is what texts say in English, and in Chinese. It is for texts that stand elsewhere in English.
type Dictionary [][2]string

// Translate gives a text in another language; as it is, if it is not in the dictionary.
func (d Dictionary) Translate(in Language, english string) string {
	for _, both := range d {
		if in == Chinese && both[0] == english {
			return both[1]
		}
	}
	return english
}
