// Package lua holds the scripts that run inside Redis, one file a verb. A script's header names its KEYS, its ARGV and
// what it returns. They are sent by EVAL, as in the original write-up, so that a restarted Redis need not be taught
// them again and MONITOR shows what runs.
package lua

import _ "embed" // the scripts

// The scripts of the locks.
var (
	//go:embed compareAndDelete.lua
	CompareAndDelete string
	//go:embed lock.lua
	Lock string
	//go:embed unlock.lua
	Unlock string
	//go:embed updateExpireTime.lua
	UpdateExpireTime string
)

// The scripts of the ledger.
var (
	//go:embed enter.lua
	Enter string
)
