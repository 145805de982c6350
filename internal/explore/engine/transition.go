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
	PollsOn                       // a waiter polls again: it will get the same replies, but nothing else can happen
	TimePasses                    // time advances to the next timer or expiry; no task can move
	Slow                          // time advances to the next timer, although a task could move
	Expires                       // time advances to the next expiry, although a task could move
	LosesReply                    // a task's command takes effect, and the reply is lost
	DiesBefore                    // a process dies before a task's command is sent
	DiesAfter                     // a task's command takes effect, and its process dies
	PausesAfter                   // a task's command takes effect, and its process pauses before it reads the reply
	Pauses                        // a process pauses, with its timers
	Resumes                       // a paused process resumes
	Leaves                        // an actor's client goes away, and its context is cancelled
	ReceivesMessage               // a message reaches a process
	LosesMessage                  // a message is lost
	LosesRequest                  // a task's command never takes effect
	Delays                        // a task's command takes effect later
	Arrives                       // a late command takes effect
	NeverArrives                  // the rest of a pipeline never takes effect
	Resends                       // a task's command takes effect, the reply is lost, and the client is about to send the command again
	StopsReplication              // a task's command takes effect; a replica receives neither this change nor later ones
	FailsOver                     // the lagging replica replaces its master
	StopsSnapshots                // a task's command takes effect; the server's snapshot has neither this change nor later ones
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
	GoesOn                        // a waiter receives a value, although its context, or the context of a task ahead of it, has ended
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

// Fault returns the fault that happens in a transition of this kind; fault.None: none. A failover and a rollback happen in their second
// step.
func (k Kind) Fault() fault.Fault { return k.spec().fault }

// Budget returns the fault whose budget a transition of this kind needs; fault.None: none. Both steps of a failover or a rollback need it.
func (k Kind) Budget() fault.Fault { return cmp.Or(k.spec().budget, k.spec().fault) }

// IsTaskStep reports whether a transition of this kind is a step of a task, or a fault that strikes its command.
func (k Kind) IsTaskStep() bool { return k.spec().subject == subjectTask }

// IsWaitEnd reports whether a transition of this kind ends a task's wait.
func (k Kind) IsWaitEnd() bool { return k.spec().subject == subjectWaiter }

// Matches reports whether the token may stand for a transition of kind k. PollsOn has the same notation as Moves.
func (p ParsedToken) Matches(k Kind) bool {
	return p.Kind == k || p.Kind == Moves && k == PollsOn
}

// IsProgress reports whether t is a step by which an actor may make progress: a command, a message, or the end of a wait.
func (t Transition) IsProgress() bool {
	return t.Kind == Moves || t.Kind == ReceivesMessage || t.Kind == GoesOn || t.Kind == Notices
}

// canBringProgress reports whether some actor may make progress after t, by t itself or by what t makes possible.
func (t Transition) canBringProgress() bool {
	return t.IsProgress() || t.Kind == TimePasses || t.Kind == Resumes || t.Kind == Arrives
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
	task  *Task  // nil: the subject is not a task
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

// ErrMalformed is returned for a token that is not a step of any schedule.
var ErrMalformed = lock.WithCode("bad_request", "not a step")

// ParsedToken is a step of a schedule, as written.
type ParsedToken struct {
	Kind    Kind
	Who     string // name of the subject; "": none
	Command string // name of the task's command; "": none
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
	if command, suffix, hasSlash := strings.Cut(what, "/"); hasSlash && who != "" {
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
