package contestants

import "slices"

// Table returns all contestants, in the order of the tables.
func Table() []Contestant {
	return slices.Concat(
		[]Contestant{{Name: "limit", Title: "one buyer without a lock", Kind: Limit, Open: openLimit}},
		offPage(newSteps("v1", "v2", "v3")),
		newSteps("v4"),
		offPage(newSteps("v5")),
		newSteps("v6", "v7", "v8", "v9", "v10", "v11", "redlock"),
		[]Contestant{
			{Name: "redislock", Title: "bsm/redislock", Kind: Library, Open: openRedislock},
			{Name: "redsync", Title: "go-redsync/redsync/v4 on go-redis", Kind: Library, Open: openRedsync},
			{Name: "rueidislock", Title: "redis/rueidis/rueidislock", Kind: Library, Open: openRueidislock(false)},
		},
		offPage([]Contestant{
			{Name: "rueidislock-noloop", Title: "the same, with NoLoopTracking", Kind: Library, Open: openRueidislock(true)},
		}),
		offPage(newSteps("delex")),
		newSteps("segmented", "atomic", "optimistic"),
	)
}

// offPage marks contestants that are not on the page.
func offPage(all []Contestant) []Contestant {
	for i := range all {
		all[i].OffPage = true
	}
	return all
}
