// Package lua holds the scripts that run inside Redis, one file a verb. A script's header names its KEYS, its ARGV and
// what it returns. They are sent by EVAL, as in the original write-up, so that a restarted Redis need not be taught
// them again and MONITOR shows what runs.
package lua

import (
	"cmp"
	"embed"
	"io/fs"
	"strings"
	"sync"
)

// Sources are the files of all scripts, for those who show them.
//
//go:embed *.lua
var Sources embed.FS

// The scripts of the locks.
var (
	//go:embed compareAndDelete.lua
	CompareAndDelete string
	//go:embed compareAndExtend.lua
	CompareAndExtend string
	//go:embed lock.lua
	Lock string
	//go:embed unlock.lua
	Unlock string
	//go:embed updateExpireTime.lua
	UpdateExpireTime string
	//go:embed lockFenced.lua
	LockFenced string
	//go:embed setnxExpire.lua
	SetNXExpire string
)

// The scripts of the queue of processes begin with the same functions.
var (
	//go:embed queue.lua
	queue string
	//go:embed acquire.lua
	acquire string
	//go:embed release.lua
	release string

	Acquire = queue + acquire
	Release = queue + release
)

// What the scripts that give a lock back answer; release.lua in the first element of an array.
const (
	Released      = 1
	Kept          = 20 // it is still the owner's
	HeldByAnother = 10
	HeldByNobody  = 30
)

// What the scripts that take or renew a lock answer when they did not, as it is another's; else a count, a token, or 1.
const (
	NotTaken   = 0
	NotRenewed = 0 // it may also be nobody's
)

// The scripts of the ledger.
var (
	//go:embed enter.lua
	Enter string
	//go:embed take.lua
	Take string
	//go:embed readFenced.lua
	ReadFenced string
	//go:embed write.lua
	Write string
	//go:embed startRun.lua
	StartRun string
)

// File is the name of a script's file, "" if the script is not from here.
func File(script string) string { return files()[strings.TrimPrefix(script, queue)] }

// files has the names of the files, by what is in them.
var files = sync.OnceValue(func() map[string]string {
	names, err := fs.Glob(Sources, "*.lua")
	byText := map[string]string{}
	for _, name := range names {
		text, unread := Sources.ReadFile(name)
		byText[string(text)], err = name, cmp.Or(err, unread)
	}
	if err != nil {
		panic(err) // they are part of the program
	}
	return byText
})
