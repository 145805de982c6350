// Package meaning interprets Redis commands: it determines what a script of package lua, or a plain command on the key of the lock or the
// stock, does with them. The witness, the proxy, the explorer and all displays of commands use it. Begin with Of.
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

// StockKey is the key of the stock, as in the original write-up. SegmentPrefix is the common prefix of the keys of its segments; the number
// of the segment follows, counted from 1.
const (
	StockKey      = "inventory"
	SegmentPrefix = "{" + StockKey + "}:segment:"
)

// Verb is what a command does with the lock or the stock.
type Verb string

// Verbs of commands on the lock (takes to removes) and on the stock (reads and writes).
const (
	Takes   Verb = "takes"   // takes the lock, or tries to
	Looks   Verb = "looks"   // reads the key of the lock
	Renews  Verb = "renews"  // sets the expiry of the lock again
	Removes Verb = "removes" // deletes the lock, or releases it once
	Reads   Verb = "reads"   // reads the stock
	Writes  Verb = "writes"  // writes the stock
)

// Outcome is the result of a command.
type Outcome string

// Outcomes of commands.
const (
	Done     Outcome = "done"      // done, and none of the special cases below
	Again    Outcome = "again"     // done: a nested call took or released the holder's lock, or the ledger has the order already
	ByOther  Outcome = "by-other"  // not done: another owner holds the lock
	ByNobody Outcome = "by-nobody" // not done: the lock is free
	NotOwner Outcome = "not-owner" // not done: the lock is free or held by another owner
	Refused  Outcome = "refused"   // not done: the lock is held, or the fencing token of the sale is stale
	Unknown  Outcome = "unknown"   // no reply, so the command may have been executed
	Over     Outcome = "over"      // not done: the run of the sale is over
	Passed   Outcome = "passed"    // done: the lock was released to the first waiter in the queue
)

// Meaning describes what a command does with the lock or the stock. The zero Meaning is that of any other command.
type Meaning struct {
	Verb    Verb
	Outcome Outcome
	Forced  bool          // true: the command does not check whether, or by whom, the lock is held
	Owner   string        // owner named by the command; empty: none
	TTL     time.Duration // expiry set by the command; 0: none
	Token   int64         // fencing token of the sale; 0: none
	Stock   int64         // stock read or written
	Segment int           // 1-based stock segment; 0: the whole stock
}

// Of returns the meaning of a command with its reply or error. A script that the server did not know (NOSCRIPT) has none: it did nothing,
// and the whole script follows.
func Of(args []any, reply any, err error) (m Meaning) {
	if len(args) < 2 || redis.HasErrorPrefix(err, "NOSCRIPT") {
		return Meaning{}
	}
	script, name := lua.Base(lua.SentScript(Text(args[0]), Text(args[1]))), strings.ToLower(Text(args[0]))
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
		if rediserr.IsAnswer(err) { // Redis answered with an error, so the command had no effect.
			m.Outcome = Refused
		}
	}
	return m
}

// lockCommandMeaning interprets a plain command on the key of the lock.
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
	case "delex", "delifeq": // DELEX key IFEQ owner, and DELIFEQ key owner
		return Meaning{Verb: Removes, Outcome: done(NotOwner), Owner: Text(args[len(args)-1])}
	case "get":
		return Meaning{Verb: Looks, Outcome: Done}
	default:
		return Meaning{}
	}
}

// setMeaning interprets SET and SETNX on the key of the lock.
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

// scriptMeaning interprets a script of package lua. args are the command, the script, the number of keys, the keys, and the script's
// arguments.
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
	case lua.Unlock, lua.CompareAndDelete, lua.Release, lua.RemoveHolder:
		m.Verb = Removes
	}
	if !parseSegmentKey(lock.Key+":", lock.Key, key, &m.Segment) || m.Verb == "" { // another lock, such as the barrier
		return Meaning{}
	}
	if script != lua.RemoveHolder { // Its argument is the holder to remove, not the owner who sends it.
		m.Owner = Text(argAt(scriptArgs, 0))
	}
	return m
}

// stockKeyOf returns the key of the stock or segment that a script of the ledger reads or writes.
func stockKeyOf(script string, args []any, keys int) string {
	const total, segment = 3, 8 // indexes in args of the first and the sixth key of write.lua
	if script == lua.Write && keys > segment-total {
		return Text(args[segment])
	}
	return Text(args[total])
}

// parseSegmentKey reports whether key equals whole or is a segment key with this prefix. For a segment key it sets *segment to the number.
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

// lockScriptOutcome returns the outcome of a lock script by its numeric reply, or the first element of its reply.
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
	case lua.StillHeld:
		return Again
	case lua.HeldByAnother:
		return ByOther
	default:
		return ByNobody
	}
}

// ledgerScriptMeaning interprets a script of the ledger that a sale sends.
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
	case lua.RunOver, lua.StockChanged: // StockChanged ends the run, too.
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

// order holds the needed fields of an order in the ledger.
type order struct {
	Owner string `json:"owner"`
	After int64  `json:"stock_after"`
}

// parseOrder parses the JSON of an order. It returns the zero order if text is not one.
func parseOrder(text string) (o order) {
	_ = json.Unmarshal([]byte(text), &o)
	return o
}

// argAt returns argument i; "" if there are fewer arguments.
func argAt(args []any, i int) any {
	if i < len(args) {
		return args[i]
	}
	return ""
}

// doneIf returns Done if done, otherwise the other outcome.
func doneIf(done bool, otherwise Outcome) Outcome {
	if done {
		return Done
	}
	return otherwise
}

// expiry converts the argument of an expiry, in seconds or else in milliseconds.
func expiry(arg any, seconds bool) time.Duration {
	if seconds {
		return time.Duration(numberIn(arg)) * time.Second
	}
	return time.Duration(numberIn(arg)) * time.Millisecond
}

// numberIn returns the number in an argument or a reply, or in the first element of a reply; 0 if there is none.
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
		n, _ := strconv.ParseInt(Text(value), 10, 64) // ParseInt returns 0 for other texts.
		return n
	}
	return 0
}

// Text returns an argument in the form in which it is sent to Redis.
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
