package witness

import "lockstep/internal/language"

// Titles names, for people, the kinds of findings and of what happens to a replica or to a Redis.
func Titles() map[string]language.Text {
	both := language.Both
	return map[string]language.Text{
		string(Removed):        both("Foreign delete", "误删别人的锁"),
		string(Overwrote):      both("Lock overwritten", "锁被覆盖"),
		string(Prolonged):      both("Foreign renewal", "给别人的锁续期"),
		string(ExpiredAtWork):  both("Lock expired during the work", "没做完锁就过期"),
		string(Together):       both("Two holders", "两个持有者"),
		string(RefusedToken):   both("Stale token refused", "旧令牌被拒绝"),
		string(LostUpdate):     both("Lost update", "更新丢失"),
		string(WroteLate):      both("Late write", "迟到的写入"),
		string(Waited):         both("Waited", "等待"),
		string(WaitedInVain):   both("Waited in vain", "没有等到锁"),
		string(WaitsForItself): both("Waits for itself", "自己等自己"),
		string(LeftBehind):     both("Lock left behind", "锁残留"),
		string(Polled):         both("Polling", "轮询"),
		string(Told):           both("Told of the loss", "得知丢锁"),
		string(Forgot):         both("Redis forgot the lock", "Redis 丢失了锁"),
		string(Unanswered):     both("No reply from Redis", "Redis 没有响应"),
		string(Overtaken):      both("Overtaken", "被后来者超过"),
		string(Idle):           both("Nobody inside, somebody waits", "没人持有，却有人在等"),
		string(DiedHolding):    both("Died with the lock", "持锁时崩溃"),
		string(PassedOver):     both("Died in the queue", "排队时崩溃"),
		string(PlaceExpired):   both("Died in the queue", "排队时崩溃"),
		string(RenewedOn):      both("Renewed for nobody", "无主续期"),

		string(KindDies):    both("A replica died", "副本崩溃"),
		string(KindStops):   both("A replica was paused", "副本暂停"),
		string(KindGoes):    both("A replica goes on", "副本恢复运行"),
		string(KindEmptied): both("Redis lost what it held", "Redis 的数据丢失"),
	}
}
