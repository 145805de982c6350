package exhibit

import "lockstep/museum/internal/play"

// Old is an old version of a library, in which an issue that has been mended since then can be seen.
type Old struct {
	Modfile  string // of the program that is built with it
	Library  string
	Version  string
	Issue    string // where it was reported or mended
	Scenario play.Scenario
}

// Older lists them.
func Older() []Old {
	plain := play.Scenario{Actors: 2}
	lost := plain
	lost.Faults[play.LostReply] = 1
	return []Old{
		{"older/redislock-0.9.3.mod", "redislock-resending", "v0.9.3", "https://github.com/bsm/redislock/pull/71", lost},
		{"older/rueidislock-1.0.43.mod", "rueidislock-noloop", "v1.0.43", "https://github.com/redis/rueidis/issues/602", plain},
	}
}
