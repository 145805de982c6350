package strategy

import (
	"slices"
	"strings"

	"lockstep/internal/lock"
)

// Rights are what the user of a Redis has to be allowed, in the words of ACL SETUSER: +command, ~key, &channel.
type Rights string

// And returns these and further rights, each once.
func (r Rights) And(further Rights) Rights {
	words := r.Words()
	for _, word := range further.Words() {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return Rights(strings.Join(words, " "))
}

// Without returns those of these rights that are not among others.
func (r Rights) Without(others Rights) Rights {
	known := others.Words()
	return Rights(strings.Join(slices.DeleteFunc(r.Words(), func(word string) bool { return slices.Contains(known, word) }), " "))
}

// Words returns each right.
func (r Rights) Words() []string { return strings.Fields(string(r)) }

// Rights returns what the lock needs on these servers if its key is not lock.Key, but of this name.
func (s Strategy) Rights(there Servers, key string) Rights {
	needs := s.Needs
	if s.Native && there.CompareAndDelete != "" {
		needs = needs.And(Rights("+" + strings.ToLower(there.CompareAndDelete)))
	}
	return Rights(strings.ReplaceAll(string(needs), lock.Key, key))
}
