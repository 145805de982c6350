// Package lua holds the scripts that run inside Redis, one file a verb. A script's header names its KEYS, its ARGV and
// what it returns. Those of the locks are sent by EVAL, as in the original write-up, so that MONITOR shows what runs; those
// of the ledger by EVALSHA, and by EVAL to a Redis that does not know them yet.
package lua

import (
	"crypto/sha1" //nolint:gosec // as Redis names scripts
	"embed"
	"encoding/hex"
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
	CompareAndDelete = script("compareAndDelete.lua")
	CompareAndExtend = script("compareAndExtend.lua")
	Lock             = script("lock.lua")
	Unlock           = script("unlock.lua")
	UpdateExpireTime = script("updateExpireTime.lua")
	LockFenced       = script("lockFenced.lua")
	SetNXExpire      = script("setnxExpire.lua")
	RemoveHolder     = script("removeHolder.lua") // of a lock of any version, by hand
)

// The scripts of the queue of processes.
var (
	Acquire      = script("acquire.lua")
	AcquireOrAsk = script("acquireOrAsk.lua")
	Release      = script("release.lua")
)

// What the scripts that give a lock back answer.
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
	Beat       = script("beat.lua")
	Take       = script("take.lua")
	Sell       = script("sell.lua")
	ReadFenced = script("readFenced.lua")
	Write      = script("write.lua")
	StartRun   = script("startRun.lua")
	OnMaster   = script("onMaster.lua")
)

// What a sale's scripts of the ledger answer, or begin their answer with. A piece that is taken, and an order that is known, are answered
// by the order itself.
const (
	Stale        = 0 // refused: the ledger has seen a larger fencing token
	Accepted     = 1 // read, or written
	RunOver      = 2 // refused: the sale's run is over
	NoNumber     = 3 // refused: a number of the run, or the largest token, is none
	StockChanged = 4 // refused: somebody else has set the stock
	SoldOut      = 5
)

// script returns what is in a file, after the functions that it begins with.
func script(file string) string {
	text := read(file)
	switch file {
	case "acquire.lua", "acquireOrAsk.lua", "release.lua":
		text = read("queue.lua") + text
	case "take.lua", "sell.lua":
		text = read("piece.lua") + text
	}
	return text
}

func read(file string) string {
	text, err := Sources.ReadFile(file)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(text)
}

// File is the name of a script's file, "" if the script is not from here.
func File(script string) string { return files()[script] }

// SentBy is the script that a command with this first argument runs: EVAL has its text there, and EVALSHA its SHA-1. It is "" of any other
// command, and of a SHA-1 that no script from here has.
func SentBy(command, argument string) string {
	switch {
	case strings.EqualFold(command, "EVAL"):
		return argument
	case strings.EqualFold(command, "EVALSHA"):
		return bySum()[argument]
	default:
		return ""
	}
}

// bySum has the scripts by their SHA-1.
var bySum = sync.OnceValue(func() map[string]string {
	scripts := map[string]string{}
	for script := range files() {
		sum := sha1.Sum([]byte(script)) //nolint:gosec // as Redis names scripts
		scripts[hex.EncodeToString(sum[:])] = script
	}
	return scripts
})

// files has the names of the files, by the scripts.
var files = sync.OnceValue(func() map[string]string {
	names, err := fs.Glob(Sources, "*.lua")
	if err != nil {
		panic(err) // of a pattern that is wrong
	}
	byText := map[string]string{}
	for _, name := range names {
		byText[script(name)] = name
	}
	return byText
})
