// Package reason says why a sale failed: for programs by a code, which travels with what is told of the sale, and for people by a text in
// each language. internal/api/answer has the status of each code that a request may end with.
package reason

import (
	"cmp"
	"errors"

	"lockstep/internal/language"
	"lockstep/internal/lock"
	"lockstep/internal/service"
)

// Reason is why a sale failed.
type Reason struct {
	Code string // of no other reason
	Err  error
	Says language.Text
}

// All are the reasons that there are. The errors that say more come first: they are others, too.
func All() []Reason {
	because := func(err error, chinese string, code ...string) Reason {
		return Reason{cmp.Or(append(code, lock.CodeOf(err))...), err, language.Both(err.Error(), chinese)}
	}
	return []Reason{
		because(service.ErrOutcomeUnknown, "写入结果未知：可能已经卖出"),
		because(service.ErrBadStock, "库存不是数字"),
		because(service.ErrBadData, "Redis 里的数据不对"),
		because(service.ErrRunOver, "这一轮已经结束"),
		because(service.ErrNoOrder, "账本里没有这个订单"),
		because(service.ErrInFlight, "这一单可能还在处理"),
		because(lock.ErrLost, "丢了锁"),
		because(service.ErrSoldOut, "售罄"),
		because(service.ErrConflict, "期间另一单改了库存", "conflict"),
		because(lock.ErrTimeout, "等锁超时"),
		because(lock.ErrRefused, "Redis 拒绝了命令", "redis_refused"),
		because(lock.ErrUnavailable, "Redis 不可用"),
		because(lock.ErrScriptFailed, "脚本在 Redis 里执行失败，可能已执行一部分：结果未知", "script_failed"),
		because(lock.ErrOutcomeUnknown, "Redis 没有响应：结果未知", "no_reply"),
		because(lock.ErrCancelled, "请求被取消", "cancelled"),
		because(lock.ErrNotObtained, "锁被别人持有", "not_obtained"),
		because(lock.ErrNotOwner, "锁不是自己的", "not_owner"),
		because(lock.ErrExpired, "锁已经不在了：过期了，或被别人删了", "expired"),
	}
}

// Of returns the reason that an error is; the zero Reason, if it is none of them.
func Of(err error) Reason {
	for _, r := range All() {
		if errors.Is(err, r.Err) {
			return r
		}
	}
	return Reason{}
}

// WithCode returns the reason with a code; the zero Reason, if none has it.
func WithCode(code string) (found Reason) {
	for _, r := range All() {
		if r.Code == code {
			found = r
		}
	}
	return found
}

// In returns the reason in a language; in English, or if it is none, the text of the error, which tells more.
func (r Reason) In(in language.Language, text string) string {
	if r.Err != nil && in == language.Chinese {
		return r.Says.In(in)
	}
	return text
}

// InShort returns, in a language, which of some errors an error wraps, without what else it tells; all of it, if that is none of them.
func InShort(in language.Language, err error, among ...error) string {
	for _, known := range among {
		if errors.Is(err, known) {
			return Of(known).In(in, known.Error())
		}
	}
	return Of(err).In(in, err.Error())
}
