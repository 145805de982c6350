// Package lua holds the scripts that run inside Redis, one file for each. A script's header describes its KEYS, its ARGV and its reply. The
// scripts of the locks are sent by EVAL, as in the original write-up, so that MONITOR shows what runs. Those of the ledger are sent by
// EVALSHA, and by EVAL to a Redis that does not know them yet.
package lua

import (
	"crypto/sha1" //nolint:gosec // as Redis names scripts
	"embed"
	"encoding/hex"
	"io/fs"
	"strings"
	"sync"
)

// Sources holds the files of all scripts, for display.
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
	RemoveHolder     = script("removeHolder.lua") // removes a lock of any strategy by hand
)

// The scripts of the queue of processes.
var (
	Acquire      = script("acquire.lua")
	AcquireOrAsk = script("acquireOrAsk.lua")
	Release      = script("release.lua")
)

// Replies of the scripts that release a lock.
const (
	Released      = 1
	StillHeld     = 20 // the owner still holds the lock, for an outer call
	HeldByAnother = 10
	HeldByNobody  = 30
)

// Replies of the scripts that take or renew a lock, if another owner holds it. On success they reply with a count, a token, or 1.
const (
	NotTaken   = 0
	NotRenewed = 0 // another owner holds the lock, or nobody
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

// Replies of a sale's scripts of the ledger, or the first elements of their replies. A script that sells a piece, or finds the order in the
// ledger, replies with the order instead.
const (
	Stale        = 0 // refused: the ledger has seen a larger fencing token
	Accepted     = 1 // read, or written
	RunOver      = 2 // refused: the sale's run is over
	NotANumber   = 3 // refused: a counter of the run, or the largest token, is not a number
	StockChanged = 4 // refused: somebody else has set the stock
	SoldOut      = 5
)

// script returns the content of a file, preceded by the functions that it needs.
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

// read returns the content of a file.
func read(file string) string {
	text, err := Sources.ReadFile(file)
	if err != nil {
		panic(err) // The file is part of the program.
	}
	return string(text)
}

// File returns the name of a script's file; "" if the script is not from this package.
func File(script string) string { return filesByScript()[script] }

// SentScript returns the script that a command runs: the first argument of EVAL is the script, and that of EVALSHA its SHA-1. It returns ""
// for any other command, and for the SHA-1 of a script that is not from this package.
func SentScript(command, argument string) string {
	switch {
	case strings.EqualFold(command, "EVAL"):
		return argument
	case strings.EqualFold(command, "EVALSHA"):
		return bySum()[argument]
	default:
		return ""
	}
}

// bySum maps the SHA-1 of each script to the script.
var bySum = sync.OnceValue(func() map[string]string {
	scripts := map[string]string{}
	for script := range filesByScript() {
		sum := sha1.Sum([]byte(script)) //nolint:gosec // as Redis names scripts
		scripts[hex.EncodeToString(sum[:])] = script
	}
	return scripts
})

// filesByScript maps each script to the name of its file.
var filesByScript = sync.OnceValue(func() map[string]string {
	names, err := fs.Glob(Sources, "*.lua")
	if err != nil {
		panic(err) // The pattern is malformed.
	}
	byText := map[string]string{}
	for _, name := range names {
		byText[script(name)] = name
	}
	return byText
})
