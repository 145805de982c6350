package strategy

import (
	"slices"
	"strings"

	"lockstep/internal/lock"
)

// Rights lists what a Redis user has to be allowed: rules of ACL SETUSER, such as +get, ~key and &channel.
type Rights []string

// ParseRights parses a list of rights separated by spaces.
func ParseRights(rules string) Rights { return strings.Fields(rules) }

// Union returns the rights of both lists, each once.
func (r Rights) Union(others Rights) Rights {
	union := slices.Clone(r)
	for _, right := range others {
		if !slices.Contains(union, right) {
			union = append(union, right)
		}
	}
	return union
}

// String returns the rights separated by spaces, as ACL SETUSER takes them.
func (r Rights) String() string { return strings.Join(r, " ") }

// Rights returns what the lock needs on these servers if its key has the name key instead of lock.Key.
func (s Strategy) Rights(available Servers, key string) (rights Rights) {
	for _, right := range s.Needs {
		rights = append(rights, strings.ReplaceAll(right, lock.Key, key))
	}
	if s.Native && available.CompareAndDelete != "" {
		rights = rights.Union(Rights{"+" + strings.ToLower(available.CompareAndDelete)})
	}
	return rights
}
