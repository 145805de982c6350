// Package reason maps the errors of a sale to reasons: a code for programs, and a text in each language for people. Package answer maps the
// codes to HTTP statuses. Begin with FromError.
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
	Code string        // unique code
	Err  error         // sentinel error of the reason
	Text language.Text // short text for people
}

// All returns all reasons. More specific errors come first, because they wrap the more general ones.
func All() []Reason {
	newReason := func(err error, chinese string, code ...string) Reason {
		return Reason{cmp.Or(append(code, lock.CodeOf(err))...), err, language.Both(err.Error(), chinese)}
	}
	return []Reason{
		newReason(service.ErrOutcomeUnknown, "写入结果未知，可能已经卖出"),
		newReason(service.ErrBadStock, "库存不是数字"),
		newReason(service.ErrBadData, "Redis 里的数据不对"),
		newReason(service.ErrRunOver, "这一轮已经结束"),
		newReason(service.ErrNoOrder, "账本里没有这个订单"),
		newReason(service.ErrInFlight, "这一单可能还在处理"),
		newReason(lock.ErrLost, "锁丢失"),
		newReason(service.ErrSoldOut, "售罄"),
		newReason(service.ErrConflict, "期间另一单改了库存", "conflict"),
		newReason(lock.ErrTimeout, "等锁超时"),
		newReason(lock.ErrRefused, "Redis 拒绝了命令", "redis_refused"),
		newReason(lock.ErrUnavailable, "Redis 不可用"),
		newReason(lock.ErrScriptFailed, "脚本在 Redis 里执行失败，可能已执行一部分，结果未知", "script_failed"),
		newReason(lock.ErrOutcomeUnknown, "Redis 没有响应，结果未知", "no_reply"),
		newReason(lock.ErrCancelled, "请求被取消", "cancelled"),
		newReason(lock.ErrNotObtained, "锁被别人持有", "not_obtained"),
		newReason(lock.ErrNotOwner, "锁不是自己的", "not_owner"),
		newReason(lock.ErrExpired, "锁已经不在了（过期，或被别人删除）", "expired"),
	}
}

// FromError returns the reason of an error; the zero Reason if it has none.
func FromError(err error) Reason {
	for _, r := range All() {
		if errors.Is(err, r.Err) {
			return r
		}
	}
	return Reason{}
}

// WithCode returns the reason with the code; the zero Reason if there is none.
func WithCode(code string) (found Reason) {
	for _, r := range All() {
		if r.Code == code {
			found = r
		}
	}
	return found
}

// In returns the text of the reason in a language. In English, and for the zero Reason, it returns text, the full text of the error.
func (r Reason) In(in language.Language, text string) string {
	if r.Err != nil && in == language.Chinese {
		return r.Text.In(in)
	}
	return text
}

// ShortText returns the text of the first of the errors known that err wraps, without details. If err wraps none of them, ShortText returns
// the full text of err, in Chinese as far as it is translated.
func ShortText(in language.Language, err error, known ...error) string {
	for _, k := range known {
		if errors.Is(err, k) {
			return FromError(k).In(in, k.Error())
		}
	}
	return FromError(err).In(in, language.TextOf(err, in))
}
