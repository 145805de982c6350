package recorder

// lost tells how the lock has changed, if no actor did it.
func (r *Recorder) lost(before view) string {
	switch was, is := before.locks[0], r.locks()[0]; {
	case was.has && !is.has:
		return r.say(": %s is gone", "：%s丢失", r.lockOf(was.holder))
	case is.has && (!was.has || is.holder != was.holder):
		return r.say(": the lock is %s again", "：锁又是%s了", r.whose(is.holder))
	default:
		return ""
	}
}

// befell tells what has happened to the node that the step's command was for.
func (r *Recorder) befell() string {
	switch node := r.step.Node; r.step.Fault {
	case "node-crash":
		return r.say("node %d goes down; ", "节点 %d 宕机；", node)
	case "node-hang":
		return r.say("node %d stops answering; ", "节点 %d 不再响应；", node)
	case "node-restart":
		return r.say("node %d restarts empty; ", "节点 %d 清空重启；", node)
	default:
		return ""
	}
}
