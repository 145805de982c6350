package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/fault"
	"lockstep/internal/language"
	"lockstep/internal/lock"
)

// Transition is one step of a schedule.
type Transition struct {
	Kind Kind
	ID   uint16 // id of the task, index of the process or actor, or 0, by the kind's subject
}

// Schedule is a list of transitions, in the order in which they happen.
type Schedule []Transition

// Kind is what happens in a transition.
type Kind uint8

// The kinds of transitions.
const (
	Moves             Kind = iota // a task takes its next step, and its next command is answered
	PollsOn                       // a waiter polls again, although it will get the same replies, as nothing else can happen
	TimePasses                    // time advances to the next timer or expiry, as no task can move
	Slow                          // time advances to the next timer, although a task could move
	Expires                       // time advances to the next expiry, although a task could move
	LosesReply                    // a task's command takes effect, and the reply is lost
	DiesBefore                    // a process dies before a task's command is sent
	DiesAfter                     // a task's command takes effect, and its process dies
	PausesAfter                   // a task's command takes effect, and its process pauses before it reads the reply
	Pauses                        // a process pauses, with its timers
	Resumes                       // a paused process resumes
	Leaves                        // an actor's client goes away, and its context is cancelled
	Woken                         // a message reaches a process
	Unwoken                       // a message is lost
	LosesRequest                  // a task's command never takes effect
	Delays                        // a task's command takes effect later
	Arrives                       // a late command takes effect
	NeverArrives                  // the rest of a pipeline never takes effect
	Resends                       // a task's command takes effect, the reply is lost, and the client is about to send the command again
	Unsynced                      // a task's command takes effect, and from it on a replica gets no more updates
	FailsOver                     // the lagging replica replaces its master
	Unsaved                       // a task's command takes effect, and from it on the server's snapshot gets no more updates
	RollsBack                     // the server restarts from its old snapshot
	Evicts                        // the server with the stock and the lock evicts the lock
	TimesOut                      // an actor's timeout fires, which the passing of time would not reach
	ClockJumps                    // a process's clock jumps ahead
	RedisClockJumps               // the clock of the server with the stock and the lock jumps ahead
	NodeClockJumps                // a node's clock jumps ahead
	NodeCrashes                   // a node refuses connections from now on
	NodeHangs                     // a node stops answering
	NodeRestarts                  // a node restarts without its data
	LeavesUnnoticed               // an actor's client goes away, and its waiting sale notices that later
	TimesOutUnnoticed             // an actor's timeout fires, and its waiting sale notices that later
	Notices                       // a waiter notices that its context has ended
	GoesOn                        // a waiter receives what it waited for, although its context, or that of a task ahead of it, has ended
	kindCount                     // number of kinds
)

// subjectKind is what a kind of transition happens to.
type subjectKind uint8

const (
	subjectNone subjectKind = iota
	subjectProcess
	subjectActor
	subjectTask
	subjectWaiter // a task in Clock.Wait
)

// spec returns the row of the kind in the table.
func (k Kind) spec() kindSpec { return kindTable()[k] }

// Fault returns the fault that a transition of this kind is, or whose second half it is.
func (k Kind) Fault() fault.Fault { return k.spec().fault }

// Budget returns the fault whose budget a transition of this kind uses up, or whose second half it is.
func (k Kind) Budget() fault.Fault { return cmp.Or(k.spec().budget, k.spec().fault) }

// IsOfTask reports whether a transition of this kind happens to a task and its command.
func (k Kind) IsOfTask() bool { return k.spec().subject == subjectTask }

// IsWaitEnd reports whether a transition of this kind ends a task's wait.
func (k Kind) IsWaitEnd() bool { return k.spec().subject == subjectWaiter }

// Matches reports whether p is the notation of a transition of kind k. PollsOn has the same notation as Moves.
func (token ParsedToken) Matches(k Kind) bool {
	return token.Kind == k || token.Kind == Moves && k == PollsOn
}

// IsProgress reports whether t is a step of the actors that may bring them on: a command, a message, or the end of a wait.
func (step Transition) IsProgress() bool {
	return step.Kind == Moves || step.Kind == Woken || step.Kind == GoesOn || step.Kind == Notices
}

// canBringProgress reports whether t can bring some actor on.
func (step Transition) canBringProgress() bool {
	return step.IsProgress() || step.Kind == TimePasses || step.Kind == Resumes || step.Kind == Arrives
}

// FormatToken formats a transition as a step of a schedule. Its command is known for certain only after it has happened.
func FormatToken(k Kind, who, command string) string {
	switch spec := k.spec(); spec.subject {
	case subjectNone:
		return spec.word
	case subjectTask:
		return who + ":" + command + spec.word
	default:
		return who + ":" + spec.word
	}
}

// Subject is the task, process or actor that a transition happens to.
type Subject struct {
	Name  string // name of the task, process or actor; "": the transition has no subject
	Actor *Actor // actor itself, the task's actor, or the process's first; nil: none
	task  *Task  // nil: the subject is no task
}

// Subject returns the subject of t.
func (x *Execution) Subject(t Transition) Subject {
	switch t.Kind.spec().subject {
	case subjectNone:
		return Subject{}
	case subjectProcess:
		return Subject{Name: x.processes[t.ID].Name, Actor: x.processes[t.ID].actors[0]}
	case subjectActor:
		return Subject{Name: x.actors[t.ID].Name, Actor: x.actors[t.ID]}
	default:
		t := x.tasks[t.ID]
		return Subject{t.name(), t.actor, t}
	}
}

// Ended reports whether the subject is a task that has ended.
func (s Subject) Ended() bool { return s.task != nil && s.task.Ended() }

// IsTimer reports whether the subject is a task that runs a timer, or waits for one.
func (s Subject) IsTimer() bool { return s.task != nil && s.task.role == timerRole }

// Pending returns the commands that a task is about to send; nil: none, or not known yet.
func (s Subject) Pending() []redis.Cmder {
	if s.task == nil {
		return nil
	}
	return s.task.pending
}

// IsSubscribing reports whether the subject is a task that is about to subscribe to a channel.
func (s Subject) IsSubscribing() bool { return s.task != nil && s.task.subscribing }

// ErrMalformed is returned when a token is no step of any schedule.
var ErrMalformed = lock.WithCode("bad_request", "that is no step")

// ParsedToken is a step of a schedule, as written. Command is "" if there is none.
type ParsedToken struct {
	Kind         Kind
	Who, Command string
}

// ParseToken parses a step of a schedule.
func ParseToken(token string) (ParsedToken, error) {
	who, what, ok := strings.Cut(token, ":")
	ok = ok && who != "" && what != ""
	for k, spec := range kindTable() {
		switch command, found := strings.CutSuffix(what, spec.word); {
		case spec.word == "":
		case spec.subject == subjectNone && token == spec.word:
			return ParsedToken{Kind: Kind(k)}, nil //nolint:gosec // fits: few values
		case ok && spec.subject == subjectTask && found:
			return ParsedToken{Kind(k), who, command}, nil //nolint:gosec // fits: few values
		case ok && spec.subject != subjectTask && spec.subject != subjectNone && what == spec.word:
			return ParsedToken{Kind(k), who, ""}, nil //nolint:gosec // fits: few values
		}
	}
	if command, suffix, odd := strings.Cut(what, "/"); odd && who != "" {
		words := notationWords(subjectTask)
		return ParsedToken{}, language.Translate(
			fmt.Errorf("%w: after %s, it takes %s, not /%s", ErrMalformed, command, strings.Join(words, ", "), suffix),
			"%s 之后不能写 /%s；可选：%s", command, suffix, strings.Join(words, "、"))
	}
	if ok {
		return ParsedToken{Moves, who, what}, nil
	}
	return ParsedToken{}, language.Translate(fmt.Errorf("%w: it takes %s", ErrMalformed, strings.Join(Notation(), ", ")),
		"不是一步；写法有：%s", strings.Join(Notation(), "、"))
}

// RequiredBudget returns the fault budget that a schedule needs.
func RequiredBudget(schedule string) (budget fault.Budget) {
	for token := range strings.FieldsSeq(schedule) {
		if want, err := ParseToken(token); err == nil {
			if used := want.Kind.spec().budget; used != fault.None {
				budget[used]++
			}
		}
	}
	return budget
}

// IsReservedWord reports whether WHO:word denotes an event other than a command.
func IsReservedWord(word string) bool {
	return slices.Contains(slices.Concat(notationWords(subjectProcess), notationWords(subjectActor), notationWords(subjectWaiter)), word)
}

// Notation returns an example of each form of a step.
func Notation() (examples []string) {
	for k := Moves; k < kindCount; k++ {
		if example := FormatToken(k, "A", "SET"); !slices.Contains(examples, example) {
			examples = append(examples, example)
		}
	}
	return examples
}

// notationWords returns the words of the schedule notation for transitions of this subject.
func notationWords(subject subjectKind) (all []string) {
	for _, spec := range kindTable() {
		if spec.subject == subject && spec.word != "" {
			all = append(all, spec.word)
		}
	}
	return all
}
