package exhibit

// Old is an old version of a library that has an issue which was fixed later.
type Old struct {
	Modfile  string // go.mod of the program with this version
	Library  string
	Version  string
	Issue    string // address of its report or its fix
	Scenario Scenario
}

// Older returns the old versions.
func Older() []Old {
	plain, lost := Scenario{Actors: 2}, Scenario{Actors: 2, Faults: "lost-reply=1"}
	return []Old{
		{"older/redislock-0.9.3.mod", "redislock-resending", "v0.9.3", "https://github.com/bsm/redislock/pull/71", lost},
		{"older/rueidislock-1.0.43.mod", "rueidislock-noloop", "v1.0.43", "https://github.com/redis/rueidis/issues/602", plain},
	}
}
