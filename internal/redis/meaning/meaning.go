// Package meaning says what a Redis command does to the lock or to the stock: each script of package lua, and the plain commands on the two
// keys. It is the one table of that, for the witness, the proxy, the explorer and whoever shows a command.
package meaning

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/util/lua"
)

// StockKey is the key of the stock, the original write-up's. SegmentPrefix is what the keys of its segments begin with; their numbers
// follow, from 1 on.
const (
	StockKey      = "inventory"
	SegmentPrefix = "{" + StockKey + "}:segment:"
)

// Verb is what a command does with the lock or the stock.
type Verb string

// The verbs.
const (
	Takes   Verb = "takes"
	Looks   Verb = "looks"
	Renews  Verb = "renews"
	Removes Verb = "removes"
	Reads   Verb = "reads"
	Writes  Verb = "writes"
)

// Outcome is what became of a command.
type Outcome string

// The outcomes.
const (
	Done     Outcome = "done"
	Again    Outcome = "again"     // it was the holder's already, or still is: a nested call; of an order, the ledger has it already
	ByOther  Outcome = "by-other"  // not done: the lock is another's
	ByNobody Outcome = "by-nobody" // not done: the lock is nobody's
	NotOwner Outcome = "not-owner" // not done: the lock is another's, or nobody's
	Refused  Outcome = "refused"   // not done: the lock is somebody's; of a stock, the fencing token is stale
	Unknown  Outcome = "unknown"   // there was no reply
	Over     Outcome = "over"      // not done: the sale's run is over
	Passed   Outcome = "passed"    // done: the lock is given back, and the first in the queue has the turn
)

// Meaning is what a command does: its verb, its outcome, and what its arguments say. The zero Meaning is that of a command about something
// else.
type Meaning struct {
	Verb    Verb
	Outcome Outcome
	Forced  bool          // it looks neither whether there is a lock nor whose it is
	Owner   string        // as the command names it; "" if it does not
	TTL     time.Duration // that it sets; 0: none
	Token   int64         // the sale's; 0: none
	Stock   int64         // read or written
	Segment int           // that it is about, from 1 on; 0: the whole
}

// Of returns the meaning of a command, by its reply or its error. One whose script the server did not know has none: it did nothing, and is
// followed by the whole script.
func Of(args []any, reply any, err error) (m Meaning) {
	if len(args) < 2 || redis.HasErrorPrefix(err, "NOSCRIPT") {
		return Meaning{}
	}
	script, name := lua.SentBy(Text(args[0]), Text(args[1])), strings.ToLower(Text(args[0]))
	switch {
	case script != "" && len(args) > 3:
		m = scriptMeaning(script, args, reply)
	case parseSegmentKey(lock.Key+":", lock.Key, Text(args[1]), &m.Segment):
		segment := m.Segment
		m = lockCommandMeaning(name, args, reply, err)
		m.Segment = segment
	case Text(args[1]) == StockKey && name == "get":
		m = Meaning{Verb: Reads, Outcome: Done, Stock: numberIn(reply)}
	}
	if m.Verb != "" && err != nil && !errors.Is(err, redis.Nil) {
		m.Outcome = Unknown
		if rediserr.IsAnswer(err) { // it had no effect
			m.Outcome = Refused
		}
	}
	return m
}

// ofLock interprets a plain command on the lock's key.
func lockCommandMeaning(name string, args []any, reply any, err error) Meaning {
	done := func(otherwise Outcome) Outcome { return doneIf(numberIn(reply) != 0, otherwise) }
	switch name {
	case "set", "setnx":
		return setMeaning(name, args, reply, err)
	case "getset":
		return Meaning{Verb: Takes, Outcome: Done, Forced: true}
	case "expire", "pexpire":
		return Meaning{Verb: Renews, Outcome: done(ByNobody), Forced: true, TTL: expiry(args[2], name == "expire")}
	case "del":
		return Meaning{Verb: Removes, Outcome: done(ByNobody), Forced: true}
	case "delex", "delifeq": // … IFEQ owner, and … owner
		return Meaning{Verb: Removes, Outcome: done(NotOwner), Owner: Text(args[len(args)-1])}
	case "get":
		return Meaning{Verb: Looks, Outcome: Done}
	default:
		return Meaning{}
	}
}

func setMeaning(name string, args []any, reply any, err error) Meaning {
	m := Meaning{Verb: Takes, Outcome: Done, Forced: name == "set", Owner: Text(args[2])}
	for i, arg := range args[3:] {
		switch option := strings.ToLower(Text(arg)); option {
		case "nx":
			m.Forced = false
		case "ex", "px":
			m.TTL = expiry(args[3+i+1], option == "ex")
		}
	}
	if !m.Forced && (errors.Is(err, redis.Nil) || reply == false) {
		m.Outcome = Refused
	}
	return m
}

// ofScript interprets a script of package lua. args are eval, the script, the number of keys, the keys, and the script's own.
func scriptMeaning(script string, args []any, reply any) Meaning {
	keys := int(numberIn(args[2]))
	if keys < 1 || len(args) < 3+keys {
		return Meaning{}
	}
	key, scriptArgs := Text(args[3]), args[3+keys:]
	var segment int
	if stock := stockKeyOf(script, args, keys); parseSegmentKey(SegmentPrefix, StockKey, stock, &segment) {
		m := ledgerScriptMeaning(script, scriptArgs, reply)
		if m.Verb != "" {
			m.Segment = segment
		}
		return m
	}
	m := Meaning{Outcome: lockScriptOutcome(script, numberIn(reply))}
	switch script {
	case lua.Lock, lua.LockFenced, lua.Acquire, lua.AcquireOrAsk, lua.SetNXExpire:
		m.Verb, m.TTL = Takes, expiry(argAt(scriptArgs, 1), false)
	case lua.UpdateExpireTime, lua.CompareAndExtend:
		m.Verb, m.TTL = Renews, expiry(argAt(scriptArgs, 1), false)
	case lua.Unlock, lua.CompareAndDelete, lua.Release:
		m.Verb = Removes
	}
	if !parseSegmentKey(lock.Key+":", lock.Key, key, &m.Segment) || m.Verb == "" { // such as the barrier's
		return Meaning{}
	}
	m.Owner = Text(argAt(scriptArgs, 0))
	return m
}

// written returns the key of the stock, or of the segment, that a script of the ledger is about.
func stockKeyOf(script string, args []any, keys int) string {
	const total, segment = 3, 8 // of write.lua, the first key and the sixth
	if script == lua.Write && keys > segment-total {
		return Text(args[segment])
	}
	return Text(args[total])
}

// isOf reports whether a key is this one, or that of a segment of it, whose number it sets.
func parseSegmentKey(prefix, whole, key string, segment *int) bool {
	if key == whole {
		return true
	}
	number, ok := strings.CutPrefix(key, prefix)
	if n, err := strconv.Atoi(number); ok && err == nil && n > 0 {
		*segment = n
		return true
	}
	return false
}

// ofLockReply is the outcome of a script of the locks that answers, or begins with, a number.
func lockScriptOutcome(script string, reply int64) Outcome {
	switch script {
	case lua.UpdateExpireTime, lua.CompareAndExtend:
		return doneIf(reply != lua.NotRenewed, ByOther)
	case lua.Lock, lua.LockFenced, lua.Acquire, lua.AcquireOrAsk, lua.SetNXExpire:
		if reply > 1 {
			return Again
		}
		return doneIf(reply != lua.NotTaken, Refused)
	}
	switch reply {
	case lua.Released:
		return doneIf(script != lua.Release, Passed)
	case lua.Kept:
		return Again
	case lua.HeldByAnother:
		return ByOther
	default:
		return ByNobody
	}
}

// ofLedger interprets a script of the ledger that a sale sends.
func ledgerScriptMeaning(script string, scriptArgs []any, reply any) (m Meaning) {
	switch script {
	case lua.ReadFenced:
		m = Meaning{Verb: Reads, Token: numberIn(argAt(scriptArgs, 0))}
		if list, ok := reply.([]any); ok && len(list) > 1 {
			m.Stock = numberIn(list[1])
		}
	case lua.Write:
		m = Meaning{Verb: Writes, Stock: numberIn(argAt(scriptArgs, 0)), Token: numberIn(argAt(scriptArgs, 1))}
	case lua.Take, lua.Sell:
		m = Meaning{Verb: Writes}
	default:
		return Meaning{}
	}
	m.Outcome = Refused
	switch numberIn(reply) {
	case lua.Accepted:
		m.Outcome = Done
	case lua.RunOver, lua.StockChanged: // that ends the run, too
		m.Outcome = Over
	}
	if written, ok := reply.(string); ok {
		m.Outcome = Done
		sent := argAt(scriptArgs, 2)
		if script == lua.Write {
			sent = argAt(scriptArgs, 4)
		}
		if inLedger, inCommand := parseOrder(written), parseOrder(Text(sent)); inLedger != inCommand {
			m.Stock, m.Outcome = inLedger.After, doneIf(inLedger.Owner == inCommand.Owner, Again)
		}
	}
	return m
}

// order is what is read of a sale's order, as the ledger has it.
type order struct {
	Owner string `json:"owner"`
	After int64  `json:"stock_after"`
}

// orderIn reads it; the zero order if there is none.
func parseOrder(text string) (o order) {
	_ = json.Unmarshal([]byte(text), &o)
	return o
}

// at returns an argument, "" if there are fewer.
func argAt(args []any, i int) any {
	if i < len(args) {
		return args[i]
	}
	return ""
}

func doneIf(done bool, otherwise Outcome) Outcome {
	if done {
		return Done
	}
	return otherwise
}

func expiry(arg any, seconds bool) time.Duration {
	if seconds {
		return time.Duration(numberIn(arg)) * time.Second
	}
	return time.Duration(numberIn(arg)) * time.Millisecond
}

// number gives the number that an argument or a reply is or begins with; 0 if it is none.
func numberIn(value any) int64 {
	switch value := value.(type) {
	case int64:
		return value
	case bool:
		if value {
			return 1
		}
	case []any:
		if len(value) > 0 {
			return numberIn(value[0])
		}
	default:
		n, _ := strconv.ParseInt(Text(value), 10, 64) // what is no number is 0
		return n
	}
	return 0
}

// Text returns an argument as it is sent.
func Text(arg any) string {
	switch arg := arg.(type) {
	case string:
		return arg
	case []byte:
		return string(arg)
	default:
		return fmt.Sprint(arg)
	}
}
