// Package reason says in each language why a sale failed. Errors are in English alone, for logs and for programs.
package reason

import (
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// All are the reasons that there are. The errors that say more come first: they contain others.
func All() []language.Text {
	both := func(err error, chinese string) language.Text { return language.Both(err.Error(), chinese) }
	return []language.Text{
		both(service.ErrOutcomeUnknown, "Redis 没有响应写入：可能已经卖出"),
		both(lock.ErrLost, "丢了锁"),
		both(service.ErrRunOver, "这一轮已经结束"),
		both(service.ErrSoldOut, "售罄"),
		both(service.ErrBadStock, "库存不是数字"),
		both(service.ErrConflict, "期间另一单改了库存"),
		both(lock.ErrTimeout, "等锁超时"),
		both(lock.ErrCancelled, "等锁被取消"),
		both(lock.ErrUnavailable, "Redis 不可用"),
		both(lock.ErrOutcomeUnknown, "Redis 没有响应：结果不明"),
		both(lock.ErrNotObtained, "锁被别人持有"),
		both(lock.ErrNotOwner, "锁不是自己的"),
		both(lock.ErrExpired, "锁已经不在了：过期了，或被别人删了"),
	}
}

// In gives the reason that an error tells, in a language; in English, that is all that it tells.
func In(in language.Language, text string) string {
	if in != language.Chinese {
		return text
	}
	for _, reason := range All() {
		if strings.Contains(text, reason.In(language.English)) {
			return reason.In(in)
		}
	}
	return text
}
