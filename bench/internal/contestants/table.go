package contestants

import "slices"

// Table lists every contestant. A new one is a name here.
func Table() []Contestant {
	return slices.Concat(
		[]Contestant{{Name: "limit", Title: "one buyer without a lock", Kind: Limit, Open: openLimit}},
		aside(steps("v1", "v2", "v3")),
		steps("v4"),
		aside(steps("v5")),
		steps("v6", "v7", "v8", "v9", "v10", "v11", "redlock"),
		[]Contestant{
			{Name: "redislock", Title: "bsm/redislock", Kind: Library, Open: openRedislock},
			{Name: "redsync", Title: "go-redsync/redsync/v4 on go-redis", Kind: Library, Open: openRedsync},
			{Name: "rueidislock", Title: "redis/rueidis/rueidislock", Kind: Library, Open: openRueidislock(false)},
		},
		aside([]Contestant{
			{Name: "rueidislock-noloop", Title: "the same, with NoLoopTracking", Kind: Library, Open: openRueidislock(true)},
		}),
		aside(steps("delex")),
		steps("segmented", "atomic", "optimistic"),
	)
}

func aside(all []Contestant) []Contestant {
	for i := range all {
		all[i].Aside = true
	}
	return all
}
