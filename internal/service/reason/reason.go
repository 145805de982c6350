// Package reason says in each language why a sale failed. Errors are in English alone, for logs and for programs; of some, only the text
// is left.
package reason

import (
	"errors"
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// Reason is why a sale failed.
type Reason struct {
	Err  error
	Says language.Text
}

// All are the reasons that there are. The errors that say more come first: they contain others.
func All() []Reason {
	because := func(err error, chinese string) Reason { return Reason{err, language.Both(err.Error(), chinese)} }
	return []Reason{
		because(service.ErrOutcomeUnknown, "写入结果未知：可能已经卖出"),
		because(service.ErrBadStock, "库存不是数字"),
		because(service.ErrBadData, "Redis 里的数据不对"),
		because(service.ErrRunOver, "这一轮已经结束"),
		because(lock.ErrLost, "丢了锁"),
		because(service.ErrSoldOut, "售罄"),
		because(service.ErrConflict, "期间另一单改了库存"),
		because(lock.ErrTimeout, "等锁超时"),
		because(lock.ErrRefused, "Redis 拒绝了命令"),
		because(lock.ErrUnavailable, "Redis 不可用"),
		because(lock.ErrScriptFailed, "脚本在 Redis 里执行失败，可能已执行一部分：结果未知"),
		because(lock.ErrOutcomeUnknown, "Redis 没有响应：结果未知"),
		because(lock.ErrCancelled, "等锁被取消"),
		because(lock.ErrNotObtained, "锁被别人持有"),
		because(lock.ErrNotOwner, "锁不是自己的"),
		because(lock.ErrExpired, "锁已经不在了：过期了，或被别人删了"),
	}
}

// Of returns the reason that the text of an error tells; none if it tells none of them.
func Of(text string) Reason {
	for _, reason := range All() {
		if strings.Contains(text, reason.Err.Error()) {
			return reason
		}
	}
	return Reason{}
}

// In returns the reason that an error tells, in a language; in English, that is all that it tells.
func In(in language.Language, text string) string {
	if reason := Of(text); reason.Err != nil && in == language.Chinese {
		return reason.Says.In(in)
	}
	return text
}

// InShort returns, in a language, which of some errors an error wraps, without what else it tells; all of it, if that is none of them.
func InShort(in language.Language, err error, among ...error) string {
	for _, known := range among {
		if errors.Is(err, known) {
			return In(in, known.Error())
		}
	}
	return In(in, err.Error())
}
