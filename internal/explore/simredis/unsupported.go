package simredis

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	resp "github.com/alicebob/miniredis/v2/server"

	"lockstep/internal/language"
)

// ErrCommand is returned for a command that the simulated Redis cannot execute faithfully.
var ErrCommand = errors.New("the simulated Redis does not have this command")

// errUnsupported returns an ErrCommand with details.
func errUnsupported(command string, why language.Text) error {
	return language.Translate(fmt.Errorf("%w: %s: %s", ErrCommand, command, why.In(language.English)),
		"%s：%s", command, why.In(language.Chinese))
}

// publishInstead advises what to do instead of listening for keyspace notifications, in both languages.
const (
	publishInstead        = "let the release publish a message of its own, and listen for that"
	publishInsteadChinese = "请让释放锁的一方自己发布一条消息，再监听它"
)

// CheckChannel returns an error for a channel on which Redis itself publishes, since the simulation does not.
func CheckChannel(channel string) error {
	if strings.HasPrefix(channel, "__keyspace@") || strings.HasPrefix(channel, "__keyevent@") {
		return errUnsupported("SUBSCRIBE "+channel, language.Both(
			"it publishes no keyspace notifications: "+publishInstead, "它不发布键空间通知。"+publishInsteadChinese))
	}
	return nil
}

// refusedCommands lists commands that are refused, with the reason. Commands that miniredis does not know are refused as well.
var refusedCommands = []struct {
	commands []string
	why      language.Text
}{
	{[]string{"BLPOP", "BRPOP", "BRPOPLPUSH", "BLMOVE", "BZMPOP", "BZPOPMAX", "BZPOPMIN"},
		language.Both("it waits in Redis, where no search can see it: use commands that do not wait, with pauses in between",
			"它会在 Redis 里阻塞，探索器看不到。请改用不等待的命令，并在两次之间暂停")},
	{[]string{"WAIT"}, language.Both("there are no replicas that could answer", "没有能够响应的从节点")},
	{[]string{"SUBSCRIBE", "UNSUBSCRIBE", "PSUBSCRIBE", "PUNSUBSCRIBE", "PUBSUB"},
		language.Both("listen to a channel by its name, over a connection of its own", "请用单独的连接，按名字监听频道")},
	{[]string{"CONFIG"}, language.Both("it has no settings, and publishes no keyspace notifications: "+publishInstead,
		"它没有配置项，也不发布键空间通知。"+publishInsteadChinese)},
	{[]string{"SPOP", "SRANDMEMBER", "RANDOMKEY", "HRANDFIELD", "ZRANDMEMBER"},
		language.Both("its reply is random, so no schedule could be run again", "它的结果是随机的，时序无法重放")},
	{[]string{"HEXPIRE", "HPERSIST", "HTTL", "HPTTL", "HSETEX"},
		language.Both("it supports no expiry of a field: use the expiry of a key", "它不支持字段的过期时间，请用键的过期时间")},
	{[]string{"XREAD", "XREADGROUP", "XGROUP"}, language.Both("it supports no streams: use a list or a sorted set", "它不支持 stream，请用列表或有序集合")},
	{[]string{"OBJECT", "MEMORY", "INFO", "DBSIZE"},
		language.Both("it stores only keys, and no information about them", "它只保存键，不保存 Redis 关于键的信息")},
	{[]string{"SELECT", "MOVE", "SWAPDB"}, language.Both("it has only one database", "它只有一个数据库")},
}

// checkSupported returns an error if a command is refused.
func (sim *Simulator) checkSupported(command string, args []string) error {
	for _, c := range refusedCommands {
		if slices.Contains(c.commands, command) {
			return errUnsupported(command, c.why)
		}
	}
	if !sim.server.Server().IsRegisteredCommand(command) {
		return language.Translate(fmt.Errorf("%w: %s is unknown to it", ErrCommand, command), "它不认识 %s", command)
	}
	switch script := strings.Join(args, " "); {
	case command == "CLIENT" && len(args) > 0 && !strings.HasPrefix(strings.ToUpper(args[0]), "SET"):
		return errUnsupported("CLIENT "+args[0], language.Both("it has no connections", "它没有连接"))
	case (command == "EVAL" || command == "SCRIPT") && strings.Contains(script, "math.random"):
		return language.Translate(
			fmt.Errorf("%w: math.random in a script: its result is random, so no schedule could be run again", ErrCommand),
			"脚本里有 math.random：它的结果是随机的，时序无法重放")
	}
	return nil
}

// refuseUnsupported answers an unsupported command with an error, and reports whether it has done so. It is also called for the commands of
// scripts.
func (sim *Simulator) refuseUnsupported(peer *resp.Peer, command string, args []string) bool {
	err := sim.checkSupported(command, args)
	if err != nil {
		sim.recordRefusal(peer, err)
	}
	return err != nil
}

// recordRefusal answers with an error, and stores the first such error of the command that runs.
func (sim *Simulator) recordRefusal(peer *resp.Peer, err error) {
	if sim.refusal == nil {
		sim.refusal = err
	}
	peer.WriteError("ERR " + err.Error())
}

// checkTransaction returns an error for a transaction that is not sent at once: the state of a connection is not part of a server's state.
func checkTransaction(commands [][]string) error {
	if len(commands) == 0 {
		return errors.New("the client waits for a reply without having sent a command")
	}
	hasName := func(args []string, name string) bool { return strings.EqualFold(args[0], name) }
	first, last := commands[0], commands[len(commands)-1]
	if hasName(first, "MULTI") != hasName(last, "EXEC") || hasName(first, "DISCARD") {
		name := strings.ToUpper(first[0])
		return language.Translate(fmt.Errorf("%w: %s by itself: send a transaction at once, by TxPipelined", ErrCommand, name),
			"单独的 %s：请用 TxPipelined 一次发出整个事务", name)
	}
	return nil
}

// checkUnderstood returns an error for a reply that says that miniredis has not understood the command. A newer Redis might understand it.
func checkUnderstood(commands [][]string, reply []byte) error {
	if !bytes.HasPrefix(reply, []byte("-")) {
		return nil
	}
	line, _, _ := strings.Cut(string(reply[1:]), "\r\n")
	for _, phrase := range []string{"ERR syntax error", "wrong number of arguments", "ERR unknown subcommand", "nsupported option"} {
		if strings.Contains(line, phrase) {
			name := strings.ToUpper(commands[0][0])
			return language.Translate(fmt.Errorf("%w: %s, or not with these arguments: %s", ErrCommand, name, line),
				"%s，或者不支持这些参数：%s", name, line)
		}
	}
	return nil
}
