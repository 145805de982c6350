package witness

import (
	"fmt"

	"lockstep/internal/language"
)

// phrases are what the steps of a drawing say, beside the findings' sentences; and parts of both. They are formats.
func phrases() map[string]language.Text {
	both := language.Both
	return map[string]language.Text{
		"expires":      both("%s's lock expires", "%s 的锁过期"),
		"dies":         both("%s dies", "%s 崩溃"),
		"stops":        both("%s stops, timers and all", "%s 暂停，定时器也停了"),
		"goes-on":      both("%s goes on", "%s 恢复运行"),
		"held":         both("a command of %s's is held on its way to Redis", "%s 的一条命令在去 Redis 的途中被扣住"),
		"cut":          both("%s is cut off from Redis", "%s 与 Redis 断开"),
		"mended":       both("%s reaches Redis again", "%s 重新连上 Redis"),
		"message-lost": both("a message to %s is lost on its way", "发给 %s 的一条消息在途中丢失"),
		"freed":        both("the command that was held reaches Redis", "被扣住的命令到达 Redis"),
		"emptied":      both("%s restarts empty", "%s 清空重启"),
		"crashes":      both("%s goes down", "%s 宕机"),
		"lags":         both("%s's replica hears nothing more of it", "%s 的从节点不再收到它的改动"),
		"fails-over":   both("%s fails over to a replica that has not heard of the lock", "%s 主从切换，接管的从节点没有收到这把锁"),

		"node/polls":  both("%s asks node %d %d times more, in vain", "%s 又问了节点 %d %d 次，都没有成功"),
		"node/held":   both("a command of %s's is held on its way to node %d", "%s 的一条命令在去节点 %d 的途中被扣住"),
		"node/cut":    both("%s is cut off from node %d", "%s 与节点 %d 断开"),
		"node/mended": both("%s reaches node %d again", "%s 重新连上节点 %d"),
		"node/freed":  both("the command that was held reaches node %[2]d", "被扣住的命令到达节点 %[2]d"),
		"unreached":   both("%s has no reply from node %d", "%s 没有收到节点 %d 的响应"),
		"on node":     both(" on node %d", "（节点 %d）"),

		"loses":      both("%s is told that it lost the lock", "%s 得知自己丢了锁"),
		"polls":      both("%s asks %d times more, in vain", "%s 又问了 %d 次，都没有成功"),
		"sold":       both("%s has sold", "%s 卖出一件"),
		"fails":      both("%s fails: %s", "%s 失败：%s"),
		"unanswered": both("%s gets no reply", "%s 没有收到响应"),

		"takes/done":        both("%s takes the lock", "%s 拿到锁"),
		"takes/again":       both("%s counts its lock", "%s 更新自己锁的重入次数"),
		"takes/refused":     both("%s finds the lock held", "%s 发现锁被占用"),
		"looks/done":        both("%s finds the lock to be %s's", "%s 发现锁是 %s 的"),
		"looks/nobody":      both("%s finds no lock", "%s 没有发现锁"),
		"renews/done":       both("%s renews its lock", "%s 给自己的锁续期"),
		"renews/by-other":   both("%s finds that the lock is no longer its own", "%s 发现锁已经不是自己的"),
		"renews/by-nobody":  both("%s finds no lock", "%s 没有发现锁"),
		"removes/done":      both("%s gives the lock back", "%s 释放锁"),
		"removes/passed":    both("%s gives the lock back, or hands it on", "%s 释放锁，或把它移交"),
		"removes/again":     both("%s keeps the lock", "%s 保留锁"),
		"removes/by-other":  both("%s leaves the lock alone: it is another's by now", "%s 不动这把锁：它已经是别人的"),
		"removes/by-nobody": both("%s finds no lock any more", "%s 发现锁已经不在了"),
		"reads/done":        both("%s reads stock %d", "%s 读到库存 %d"),
		"writes/done":       both("%s writes stock %d", "%s 写入库存 %d"),
		"reads/refused":     both("%s is refused", "%s 被拒绝"),
		"writes/refused":    both("%s is refused", "%s 被拒绝"),
		"reads/over":        both("%s is refused: its run is over", "%s 被拒绝：它那一轮已经结束"),
		"writes/over":       both("%s is refused: its run is over", "%s 被拒绝：它那一轮已经结束"),

		"somebody/done":      both("somebody removes the lock by hand", "有人手动删除了锁"),
		"somebody/by-nobody": both("somebody would remove the lock by hand, but there is none", "有人要手动删除锁，但没有锁"),

		"somebody":     both("somebody", "某人"), // who removed a lock if it was no sale
		"a sale at":    both("a sale at %s", "%s 的一单"),
		"node":         both("node %d", "节点 %d"),
		"milliseconds": both("%d ms", "%d 毫秒"),
		"seconds":      both("%.1f s", "%.1f 秒"),
		"and":          both("; ", "；"),
	}
}

// phrase fills one in.
func phrase(in language.Language, name string, values ...any) string {
	return fmt.Sprintf(phrases()[name].In(in), values...)
}

// isPhrase reports whether there is one of that name.
func isPhrase(name string) bool { return phrases()[name] != language.Text{} }
