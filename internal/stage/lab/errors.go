package lab

import (
	"errors"

	"lockstep/internal/language"
	"lockstep/internal/lock/strategy"
	"lockstep/internal/stage/replica"
)

// What can go wrong, to be matched with errors.Is.
var (
	ErrUnknown = errors.New("there is no such lab")
	ErrNotFor  = errors.New("the lab is not for this lock")
	// ErrNoRedis means that there is no real Redis on this machine.
	ErrNoRedis = errors.New("neither redis-server nor valkey-server is installed")
	// ErrNoSignals means that a replica cannot be stopped here.
	ErrNoSignals = replica.ErrNoSignals
	errRoomLeft  = errors.New("it refuses nothing: it has memory left")
	errTooLong   = errors.New("it did not happen in time")
)

// unavailable says why a lab could not be run, if that is for what this machine does not have; otherwise it gives "".
func unavailable(err error, in language.Language) string {
	switch {
	case errors.Is(err, ErrNoRedis):
		return language.Both(ErrNoRedis.Error(), "没有安装 redis-server，也没有安装 valkey-server").In(in)
	case errors.Is(err, strategy.ErrNoCommand):
		return language.Both("the Redis that is installed lacks the command", "本机的 Redis 没有这条命令").In(in)
	case errors.Is(err, ErrNoSignals):
		return language.Both("this lab stops a process, which only Unix can", "这个实验要暂停进程，只有 Unix 可以").In(in)
	default:
		return ""
	}
}
