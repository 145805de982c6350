package exhibit

// Old is an old version of a library, in which an issue that has been mended since then can be seen.
type Old struct {
	Modfile  string // of the program that is built with it
	Library  string
	Version  string
	Issue    string // where it was reported or mended
	Scenario Scenario
}

// Older lists them.
func Older() []Old {
	plain, lost := Scenario{Actors: 2}, Scenario{Actors: 2, Faults: "lost-reply=1"}
	return []Old{
		{"older/redislock-0.9.3.mod", "redislock-resending", "v0.9.3", "https://github.com/bsm/redislock/pull/71", lost},
		{"older/rueidislock-1.0.43.mod", "rueidislock-noloop", "v1.0.43", "https://github.com/redis/rueidis/issues/602", plain},
	}
}
