package lua

import (
	"cmp"
	"strings"
)

// Describe gives a command's short name, and all of it, for people: of a script, its name. What a script writes into the ledger is not
// worth the space. The first word is the command.
func Describe(words []string) (name, all string) {
	words[0] = strings.ToUpper(words[0])
	name = words[0]
	if name == "EVAL" && len(words) > 2 {
		name = Name(words[1])
		words = append([]string{"EVAL"}, aboutStock(cmp.Or(File(words[1]), name), words[1], words[3:])...)
	}
	return name, strings.Join(words, " ")
}

// aboutStock says what the store's scripts do with the stock. Of others it gives the name, the keys and the arguments.
func aboutStock(name, script string, words []string) []string {
	var says, token string
	switch script {
	case Write:
		says, token = "SET "+words[0]+" "+words[5], words[6]
	case ReadFenced:
		says, token = "GET "+words[0], words[3]
	case Take, Sell:
		says, token = "DECR "+words[0], "0"
	default:
		return append([]string{name}, words...)
	}
	if token != "0" {
		says += " (token " + token + ")"
	}
	return []string{name + ":", says}
}
