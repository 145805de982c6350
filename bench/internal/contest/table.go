package contest

// Table lists every contestant. A new one is a line here.
func Table() []Contestant {
	return []Contestant{
		{Name: "limit", What: "one worker, GET and SET without a lock", Kind: Limit, Open: openLimit},
		brief(step("v1")),
		brief(step("v2")),
		brief(step("v3")),
		step("v4"),
		brief(step("v5")),
		step("v6"),
		step("v7"),
		step("v8"),
		step("v9"),
		{Name: "redislock", What: "bsm/redislock", Kind: Library, Open: openRedislock},
		{Name: "redsync", What: "go-redsync/redsync/v4 on go-redis", Kind: Library, Open: openRedsync},
		{Name: "rueidislock", What: "redis/rueidis/rueidislock", Kind: Library, Open: openRueidislock(false)},
		brief(Contestant{Name: "rueidislock-noloop", What: "the same, with NoLoopTracking", Kind: Library, Open: openRueidislock(true)}),
		step("atomic"),
		step("optimistic"),
	}
}

func brief(c Contestant) Contestant {
	c.Brief = true
	return c
}
