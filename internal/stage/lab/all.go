package lab

// All are the labs, in the order of the story.
func All() []Lab {
	return []Lab{
		lostUpdate(), lostUpdateReplicas(), holderDies(), diesBetween(), foreignDelete(), checkThenDelete(), selfDeadlock(), overdueWork(),
		lostReply(), renewalOutage(), pausedWriter(), commitAfterUnlock(), clockSkew(), cancelledRequest(), lateCommand(),
		pollingStorm(),
		failover(), partition(), slowNode(), emptyRestartedNode(),
		redisGone(), redisPause(), stoppedProcess(), resentCommand(), scheduledJob(), jobHolderDies(), jobOverruns(),
		endlessRenewal(), deadWaiter(), missedWakeUp(), starvation(), starvationReplicas(),
	}
}
