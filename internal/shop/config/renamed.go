package config

import "fmt"

// renamed lists the keys that had another name before.
func renamed() []struct{ old, now string } {
	return []struct{ old, now string }{
		{"lock.max_passes", "lock.hand_off_limit"},
	}
}

// Renamed gives the name that a key has now, if it had another one before.
func Renamed(old string) (now string, was bool) {
	for _, name := range renamed() {
		if name.old == old {
			return name.now, true
		}
	}
	return "", false
}

// renamedVariable is Renamed for variables of the environment.
func renamedVariable(old string) (now string, was bool) {
	for _, name := range renamed() {
		if (key{name: name.old}).variable() == old {
			return key{name: name.now}.variable(), true
		}
	}
	return "", false
}

// isCalled says what something is called now.
func isCalled(old, now string) string { return fmt.Sprintf("%s is called %s now", old, now) }
