package simredis

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	resp "github.com/alicebob/miniredis/v2/server"
)

// ErrCommand is returned for a command that the simulated Redis cannot execute faithfully.
var ErrCommand = errors.New("the simulated Redis does not have this command")

// publishInstead is what to do instead of listening for keyspace notifications.
const publishInstead = "let the release publish a message of its own, and listen for that"

// CheckChannel returns an error for a channel on which Redis itself publishes.
func CheckChannel(channel string) error {
	if strings.HasPrefix(channel, "__keyspace@") || strings.HasPrefix(channel, "__keyevent@") {
		return fmt.Errorf("%w: SUBSCRIBE %s: it publishes no keyspace notifications: %s", ErrCommand, channel, publishInstead)
	}
	return nil
}

// refusedCommands are the commands that are refused, with the reason, beside those that miniredis does not know.
var refusedCommands = []struct {
	commands []string
	why      string
}{
	{[]string{"BLPOP", "BRPOP", "BRPOPLPUSH", "BLMOVE", "BZMPOP", "BZPOPMAX", "BZPOPMIN"},
		"it waits in Redis, where no search can see it: ask without waiting, and pause in between"},
	{[]string{"WAIT"}, "there are no replicas that could answer"},
	{[]string{"SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "PUBSUB"},
		"listen to a channel by its name, over a connection of its own"},
	{[]string{"CONFIG"}, "it has no settings, and publishes no keyspace notifications: " + publishInstead},
	{[]string{"SPOP", "SRANDMEMBER", "RANDOMKEY", "HRANDFIELD", "ZRANDMEMBER"},
		"its answer is left to chance, so that no schedule could be run again"},
	{[]string{"HEXPIRE", "HPERSIST", "HTTL", "HPTTL", "HSETEX"}, "it keeps no expiry of a field: use one of a key"},
	{[]string{"XREAD", "XREADGROUP", "XGROUP"}, "it keeps no streams: use a list or a sorted set"},
	{[]string{"OBJECT", "MEMORY", "INFO", "DBSIZE"}, "it keeps the keys, and not what Redis knows of them"},
	{[]string{"SELECT", "MOVE", "SWAPDB"}, "it keeps one database"},
}

// checkSupported returns an error if a command is refused.
func (sim *Simulator) checkSupported(command string, args []string) error {
	for _, c := range refusedCommands {
		if slices.Contains(c.commands, command) {
			return fmt.Errorf("%w: %s: %s", ErrCommand, command, c.why)
		}
	}
	if !sim.server.Server().IsRegisteredCommand(command) {
		return fmt.Errorf("%w: %s is unknown to it", ErrCommand, command)
	}
	switch script := strings.Join(args, " "); {
	case command == "CLIENT" && len(args) > 0 && !strings.HasPrefix(strings.ToUpper(args[0]), "SET"):
		return fmt.Errorf("%w: CLIENT %s: it has no connections", ErrCommand, args[0])
	case (command == "EVAL" || command == "SCRIPT") && strings.Contains(script, "math.random"):
		return fmt.Errorf("%w: math.random in a script: its answer is left to chance, so that no schedule could be run again", ErrCommand)
	}
	return nil
}

// refuseUnsupported answers a command that is refused with an error, and reports whether it did. It also sees the commands of scripts.
func (sim *Simulator) refuseUnsupported(peer *resp.Peer, command string, args []string) bool {
	err := sim.checkSupported(command, args)
	if err != nil {
		sim.recordRefusal(peer, err)
	}
	return err != nil
}

// recordRefusal answers with an error, and keeps the first one of the command that runs.
func (sim *Simulator) recordRefusal(peer *resp.Peer, err error) {
	if sim.refusal == nil {
		sim.refusal = err
	}
	peer.WriteError("ERR " + err.Error())
}

// checkTransaction returns an error for a transaction that is not sent at once: the state of a connection is no part of a server's state.
func checkTransaction(commands [][]string) error {
	if len(commands) == 0 {
		return errors.New("the client waits for a reply to nothing")
	}
	hasName := func(args []string, name string) bool { return strings.EqualFold(args[0], name) }
	first, last := commands[0], commands[len(commands)-1]
	if hasName(first, "MULTI") != hasName(last, "EXEC") || hasName(first, "DISCARD") {
		return fmt.Errorf("%w: %s by itself: send a transaction at once, by TxPipelined", ErrCommand, strings.ToUpper(first[0]))
	}
	return nil
}

// checkUnderstood returns an error for a reply which says that miniredis has not understood the command. A newer Redis might.
func checkUnderstood(commands [][]string, reply []byte) error {
	if !bytes.HasPrefix(reply, []byte("-")) {
		return nil
	}
	line, _, _ := strings.Cut(string(reply[1:]), "\r\n")
	for _, phrase := range []string{"ERR syntax error", "wrong number of arguments", "ERR unknown subcommand", "nsupported option"} {
		if strings.Contains(line, phrase) {
			return fmt.Errorf("%w, or not with these arguments: %s: %s", ErrCommand, strings.ToUpper(commands[0][0]), line)
		}
	}
	return nil
}
