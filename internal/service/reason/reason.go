// Package reason says why a sale failed, by the text of its error: in each language, and as the code that HTTP has for it. Errors are in
// English alone, for logs and for programs.
package reason

import (
	"strings"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// Reason is why a sale failed.
type Reason struct {
	Says language.Text
	Code string // as package api has it
}

// internal is the code of an error that HTTP has no other for.
const internal = "internal"

// All are the reasons that there are. The errors that say more come first: they contain others.
func All() []Reason {
	because := func(err error, code, chinese string) Reason { return Reason{language.Both(err.Error(), chinese), code} }
	return []Reason{
		because(service.ErrOutcomeUnknown, "outcome_unknown", "Redis 没有响应写入：可能已经卖出"),
		because(service.ErrBadStock, "bad_stock", "库存不是数字"),
		because(service.ErrRunOver, "run_over", "这一轮已经结束"),
		because(lock.ErrLost, "lock_lost", "丢了锁"),
		because(service.ErrSoldOut, "sold_out", "售罄"),
		because(service.ErrConflict, internal, "期间另一单改了库存"),
		because(lock.ErrTimeout, "lock_timeout", "等锁超时"),
		because(lock.ErrUnavailable, "redis_unavailable", "Redis 不可用"),
		because(lock.ErrOutcomeUnknown, "redis_unavailable", "Redis 没有响应：结果不明"),
		because(lock.ErrCancelled, "client_closed_request", "等锁被取消"),
		because(lock.ErrNotObtained, internal, "锁被别人持有"),
		because(lock.ErrNotOwner, internal, "锁不是自己的"),
		because(lock.ErrExpired, internal, "锁已经不在了：过期了，或被别人删了"),
	}
}

// of gives the reason that an error tells.
func of(text string) (Reason, bool) {
	for _, reason := range All() {
		if strings.Contains(text, reason.Says.In(language.English)) {
			return reason, true
		}
	}
	return Reason{Code: internal}, false
}

// Code gives the code of the reason that an error tells.
func Code(text string) string {
	reason, _ := of(text)
	return reason.Code
}

// In gives the reason that an error tells, in a language; in English, that is all that it tells.
func In(in language.Language, text string) string {
	if reason, known := of(text); known && in == language.Chinese {
		return reason.Says.In(in)
	}
	return text
}
