package witness

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/lock"
	"lockstep/internal/lock/rediserr"
	"lockstep/internal/service/history"
	"lockstep/util/lua"
)

// meaning is what a command does: the verb and the outcome, and where its arguments say in whose name and for how long.
type meaning struct {
	verb    Verb
	outcome Outcome
	forced  bool
	owner   string // as the command names it; "" if it does not
	ttl     time.Duration
	token   int64
	stock   int64
}

// meaningOf interprets a command with its reply. A command that is about something else has the zero meaning.
func meaningOf(args []any, reply any, err error) meaning {
	if len(args) < 2 {
		return meaning{}
	}
	var m meaning
	switch name := strings.ToLower(textOf(args[0])); {
	case name == "eval" && len(args) > 3:
		m = ofScript(textOf(args[1]), args, reply)
	case textOf(args[1]) == lock.Key:
		m = ofCommand(name, args, reply, err)
	case textOf(args[1]) == dao.InventoryKey && name == "get":
		m = meaning{verb: Reads, outcome: Done, stock: number(reply)}
	}
	if m.verb != "" && err != nil && !errors.Is(err, redis.Nil) {
		m.outcome = Unknown
		if rediserr.IsAnswer(err) { // it had no effect
			m.outcome = Refused
		}
	}
	return m
}

// ofCommand interprets a plain command on the lock's key.
func ofCommand(name string, args []any, reply any, err error) meaning {
	switch name {
	case "set", "setnx":
		return ofSet(name, args, reply, err)
	case "getset":
		return meaning{verb: Takes, outcome: Done, forced: true}
	case "expire", "pexpire":
		return meaning{verb: Renews, outcome: doneIf(number(reply) != 0, ByNobody), forced: true, ttl: expiry(args[2], name == "expire")}
	case "del":
		return meaning{verb: Removes, outcome: doneIf(number(reply) != 0, ByNobody), forced: true}
	case "delex", "delifeq": // … IFEQ owner, and … owner
		return meaning{verb: Removes, outcome: doneIf(number(reply) != 0, NotOwner), owner: textOf(args[len(args)-1])}
	case "get":
		return meaning{verb: Looks, outcome: Done}
	default:
		return meaning{}
	}
}

func ofSet(name string, args []any, reply any, err error) meaning {
	m := meaning{verb: Takes, outcome: Done, forced: name == "set", owner: textOf(args[2])}
	for i, arg := range args[3:] {
		switch option := strings.ToLower(textOf(arg)); option {
		case "nx":
			m.forced = false
		case "ex", "px":
			m.ttl = expiry(args[3+i+1], option == "ex")
		}
	}
	if !m.forced && (errors.Is(err, redis.Nil) || reply == false) {
		m.outcome = Refused
	}
	return m
}

// ofScript interprets a script of package lua. args are eval, the script, the number of keys, the keys, and the script's own.
func ofScript(script string, args []any, reply any) meaning {
	keys := int(number(args[2]))
	if len(args) < 3+keys {
		return meaning{}
	}
	own := args[3+keys:]
	if args[3] != lock.Key { // such as the door's
		return ofStock(script, own, reply)
	}
	var m meaning
	if len(own) > 0 {
		m.owner = textOf(own[0])
	}
	first := number(reply)
	switch script {
	case lua.Lock, lua.LockFenced, lua.Acquire, lua.AcquireOrAsk, lua.SetNXExpire:
		m.verb, m.outcome, m.ttl = Takes, doneIf(first != lua.NotTaken, Refused), expiry(own[1], false)
		if script != lua.SetNXExpire && first > 1 {
			m.outcome = Again
		}
	case lua.UpdateExpireTime, lua.CompareAndExtend:
		m.verb, m.outcome, m.ttl = Renews, doneIf(first != lua.NotRenewed, ByOther), expiry(own[1], false)
	case lua.Unlock, lua.CompareAndDelete:
		m.verb, m.outcome = Removes, ofRelease(first)
	case lua.Release:
		m.verb, m.outcome = Removes, ofRelease(first)
		if m.outcome == Done {
			m.outcome = Passed
		}
	default:
		return meaning{}
	}
	return m
}

// ofStock interprets a script of the store.
func ofStock(script string, own []any, reply any) meaning {
	switch script {
	case lua.ReadFenced:
		m := meaning{verb: Reads, outcome: ofFence(number(reply), runOverAtRead), token: number(own[0])}
		if list, is := reply.([]any); is && len(list) > 1 {
			m.stock = number(list[1])
		}
		return m
	case lua.Write:
		m := meaning{verb: Writes, outcome: ofFence(number(reply), runOverAtWrite), stock: number(own[0]), token: number(own[1])}
		if _, known := reply.(string); known { // the order was written before
			m.outcome = Done
		}
		return m
	case lua.Take, lua.Sell:
		m := meaning{verb: Writes, outcome: Refused}
		if number(reply) == runOverAtWrite {
			m.outcome = Over
		}
		var order history.Order
		if text, taken := reply.(string); taken && json.Unmarshal([]byte(text), &order) == nil {
			m.outcome, m.stock = Done, order.After
		}
		return m
	default:
		return meaning{}
	}
}

// What readFenced.lua and write.lua answer a sale whose run is over.
const (
	runOverAtRead  = 3
	runOverAtWrite = 2
)

// ofFence is the outcome of a script that looks at the sale's token and at its run.
func ofFence(reply, over int64) Outcome {
	if reply == over {
		return Over
	}
	return doneIf(reply == 1, Refused)
}

func ofRelease(reply int64) Outcome {
	switch reply {
	case lua.Released:
		return Done
	case lua.Kept:
		return Again
	case lua.HeldByAnother:
		return ByOther
	default:
		return ByNobody
	}
}

func doneIf(done bool, otherwise Outcome) Outcome {
	if done {
		return Done
	}
	return otherwise
}

func expiry(arg any, seconds bool) time.Duration {
	if seconds {
		return time.Duration(number(arg)) * time.Second
	}
	return time.Duration(number(arg)) * time.Millisecond
}

// number gives the number that an argument or a reply is or begins with; 0 if it is none.
func number(value any) int64 {
	switch value := value.(type) {
	case int64:
		return value
	case bool:
		if value {
			return 1
		}
	case []any:
		if len(value) > 0 {
			return number(value[0])
		}
	default:
		n, _ := strconv.ParseInt(textOf(value), 10, 64) // what is no number is 0
		return n
	}
	return 0
}

func textOf(arg any) string {
	switch arg := arg.(type) {
	case string:
		return arg
	case []byte:
		return string(arg)
	default:
		return fmt.Sprint(arg)
	}
}
