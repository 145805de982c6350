package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/fault"
	"lockstep/internal/lock"
)

// Transition is one thing that the schedule can let happen.
type Transition struct {
	Kind Kind
	ID   uint16 // of the task, process or actor that it happens to
}

// Schedule is what has happened, one after the other.
type Schedule []Transition

// Kind says what happens.
type Kind uint8

// The kinds.
const (
	Moves             Kind = iota // a task's next command is answered; or what it does without one
	PollsOn                       // a waiter asks again, though the answer can be no other, as nothing else can happen
	TimePasses                    // nobody can move: time goes on to the next timer or expiry
	Slow                          // time goes on to the next timer, while somebody could still move
	Expires                       // time goes on to the next expiry, while somebody could still move
	LosesReply                    // its next command takes effect, and the reply is lost
	DiesBefore                    // its process dies, its commands unsent
	DiesAfter                     // its next command takes effect, and its process dies
	PausesAfter                   // its next command takes effect, and its process stops before it has read the reply
	Pauses                        // a process is stopped, its timers too
	Resumes                       // a process that was stopped goes on
	Leaves                        // an actor's client goes away: its context is cancelled
	Woken                         // a message reaches a process
	Unwoken                       // a message gets lost
	LosesRequest                  // its next command never takes effect
	Delays                        // its next command takes effect later
	Arrives                       // a command that was delayed takes effect
	NeverArrives                  // the rest of a pipeline never takes effect
	Resends                       // its next command takes effect, the reply is lost, and the client is about to send it again
	Unsynced                      // its next command takes effect, and a replica gets neither this nor what follows
	FailsOver                     // that replica takes the place of its master
	Unsaved                       // its next command takes effect, and neither this nor what follows is in the server's snapshot
	RollsBack                     // that server restarts with its snapshot
	Evicts                        // the server with the stock and the lock evicts the lock
	TimesOut                      // an actor's timeout comes that no time would bring
	ClockJumps                    // a process's clock jumps ahead
	RedisClockJumps               // the clock of the server with the stock and the lock jumps ahead
	NodeClockJumps                // a node's clock jumps ahead
	NodeCrashes                   // a node refuses connections from then on
	NodeHangs                     // a node does not answer any more
	NodeRestarts                  // a node forgets what it held
	LeavesUnnoticed               // an actor's client goes away, and its sale, which waits, notices that later
	TimesOutUnnoticed             // an actor's timeout comes, and its sale notices that later
	Notices                       // a waiter notices that its context has ended
	GoesOn                        // it gets what it waited for, though its context has ended, or that of one before it
	kindCount                     // so many there are
)

// subject is a kind of Subject.
type subjectKind uint8

const (
	subjectNone subjectKind = iota
	subjectProcess
	subjectActor
	subjectTask
	subjectWaiter // a task in a wait
)

func (k Kind) spec() kindSpec { return kindTable()[k] }

// Fault returns the fault that a transition of this kind is, or whose second half it is.
func (k Kind) Fault() fault.Fault { return k.spec().fault }

// Budget returns the fault whose budget it uses up, or whose second half it is.
func (k Kind) Budget() fault.Fault { return cmp.Or(k.spec().budget, k.spec().fault) }

// OfTask reports whether it happens to a task, and its command.
func (k Kind) IsOfTask() bool { return k.spec().subject == subjectTask }

// OfWaiter reports whether it ends a task's wait.
func (k Kind) IsWaitEnd() bool { return k.spec().subject == subjectWaiter }

// Is reports whether a schedule writes a transition of kind k as it writes w: it writes PollsOn as Moves.
func (w ParsedToken) Matches(k Kind) bool {
	return w.Kind == k || w.Kind == Moves && k == PollsOn
}

// Progress reports whether t is the actors' own doing, and may bring them on: a command, a message, or the end of a wait.
func (t Transition) IsProgress() bool {
	return t.Kind == Moves || t.Kind == Woken || t.Kind == GoesOn || t.Kind == Notices
}

// canSucceed reports whether t can bring somebody on.
func (t Transition) canBringProgress() bool {
	return t.IsProgress() || t.Kind == TimePasses || t.Kind == Resumes || t.Kind == Arrives
}

// Token returns how a schedule writes a transition of a kind. Its command is known for certain only after it has happened.
func FormatToken(k Kind, who, command string) string {
	switch n := k.spec(); n.subject {
	case subjectNone:
		return n.word
	case subjectTask:
		return who + ":" + command + n.word
	default:
		return who + ":" + n.word
	}
}

// Subject is the one that a transition happens to.
type Subject struct {
	Name  string // of the task, process or actor; "": it happens to nobody
	Actor *Actor // of a process, its first; nil: nobody
	task  *Task  // nil: it is none
}

// Subject returns the one that t happens to.
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

// Ended reports whether it is a task that has ended.
func (s Subject) Ended() bool { return s.task != nil && s.task.Ended() }

// Pending returns what a task is about to send, as far as that is known.
func (s Subject) Pending() []redis.Cmder {
	if s.task == nil {
		return nil
	}
	return s.task.pending
}

// Subscribes reports whether it is a task that is about to subscribe to a channel.
func (s Subject) IsSubscribing() bool { return s.task != nil && s.task.subscribing }

// ErrMalformed means that a token is no step of any schedule.
var ErrMalformed = lock.WithCode("bad_request", "that is no step")

// Wanted is a transition as a schedule names it. The command is "" where there is none.
type ParsedToken struct {
	Kind         Kind
	Who, Command string
}

// ParseToken reads a token.
func ParseToken(token string) (ParsedToken, error) {
	who, what, ok := strings.Cut(token, ":")
	ok = ok && who != "" && what != ""
	for k, n := range kindTable() {
		switch command, found := strings.CutSuffix(what, n.word); {
		case n.word == "":
		case n.subject == subjectNone && token == n.word:
			return ParsedToken{Kind: Kind(k)}, nil //nolint:gosec // they are few
		case ok && n.subject == subjectTask && found:
			return ParsedToken{Kind(k), who, command}, nil //nolint:gosec // they are few
		case ok && n.subject != subjectTask && n.subject != subjectNone && what == n.word:
			return ParsedToken{Kind(k), who, ""}, nil //nolint:gosec // they are few
		}
	}
	if command, suffix, odd := strings.Cut(what, "/"); odd && who != "" {
		return ParsedToken{}, fmt.Errorf("%w: after %s, it takes %s, not /%s", ErrMalformed, command, strings.Join(kindWords(subjectTask), ", "), suffix)
	}
	if ok {
		return ParsedToken{Moves, who, what}, nil
	}
	return ParsedToken{}, fmt.Errorf("%w: it takes %s", ErrMalformed, strings.Join(Notation(), ", "))
}

// Budgets returns the faults that a schedule needs.
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

// Reserved reports whether WHO:word is not a command, but something else that happens to WHO.
func IsReservedWord(word string) bool {
	return slices.Contains(slices.Concat(kindWords(subjectProcess), kindWords(subjectActor), kindWords(subjectWaiter)), word)
}

// Notation says how a schedule writes its steps, by examples.
func Notation() (examples []string) {
	for k := Moves; k < kindCount; k++ {
		if example := FormatToken(k, "A", "SET"); !slices.Contains(examples, example) {
			examples = append(examples, example)
		}
	}
	return examples
}

// words returns those of the kinds that happen to such a subject.
func kindWords(of subjectKind) (all []string) {
	for _, n := range kindTable() {
		if n.subject == of && n.word != "" {
			all = append(all, n.word)
		}
	}
	return all
}
