package execution

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/internal/lock"
)

// Transition is one thing that the schedule can let happen.
type Transition struct {
	Kind Kind
	ID   uint16 // of the task, process or actor that it happens to
}

// Kind says what happens.
type Kind uint8

// The kinds.
const (
	Moves           Kind = iota // a task's next command is answered; or what it does without one
	Polls                       // a waiter asks again, though the answer can be no other
	PollsOn                     // the same, as nothing else can happen
	LosesReply                  // its next command takes effect, and the reply is lost
	DiesAfter                   // its next command takes effect, and its process dies
	DiesBefore                  // its process dies, its commands unsent
	PausesAfter                 // its next command takes effect, and its process stops before it has read the reply
	Pauses                      // a process is stopped, its timers too
	Resumes                     // and goes on
	Woken                       // a message reaches a process
	Unwoken                     // a message gets lost
	Leaves                      // an actor's client goes away: its context is cancelled
	TimePasses                  // nobody can move: time goes on to the next timer or expiry
	Slow                        // time goes on to the next timer, while somebody could still move
	Expires                     // time goes on to the next expiry, while somebody could still move
	LosesRequest                // its next command never takes effect
	Delays                      // its next command takes effect later
	Arrives                     // now
	Resends                     // its next command takes effect, the reply is lost, and the client is about to send it again
	Unsynced                    // its next command takes effect, and a replica gets neither this nor what follows
	FailsOver                   // that replica takes the place of its master
	TimesOut                    // an actor's timeout comes that no time would bring
	ClockJumps                  // a process's clock jumps ahead
	RedisClockJumps             // the clock of the server with the stock and the lock does
	NodeClockJumps              // a node's does
	WokenInVain                 // a process that listens is told that a message may have been missed
	NodeCrashes                 // a node refuses connections from then on
	NodeHangs                   // a node does not answer any more
	NodeRestarts                // a node forgets what it held
)

// subject is what a kind happens to.
type subject uint8

const (
	nobody subject = iota
	process
	actor
	task
)

// notation is how a schedule writes a kind: the word alone, WHO:word, or, of a task, WHO:COMMANDword.
type notation struct {
	kind Kind
	of   subject
	word string
}

func notations() [NodeRestarts + 1]notation {
	return [...]notation{
		{TimePasses, nobody, "time"}, {Slow, nobody, "slow"}, {Expires, nobody, "expiry"},
		{LosesReply, task, "/lost"}, {DiesBefore, task, "/dies-before"}, {DiesAfter, task, "/dies-after"}, {PausesAfter, task, "/pauses-after"},
		{Pauses, process, "pauses"}, {Resumes, process, "resumes"}, {Leaves, actor, "leaves"},
		{Woken, process, "woken"}, {Unwoken, process, "unwoken"}, {WokenInVain, process, "woken-in-vain"},
		{LosesRequest, task, "/lost-request"}, {Delays, task, "/late"}, {Arrives, task, "/arrives"}, {Resends, task, "/resent"},
		{Unsynced, task, "/unsynced"}, {FailsOver, nobody, "failover"}, {TimesOut, actor, "times-out"},
		{ClockJumps, process, "clock-jumps"}, {RedisClockJumps, nobody, "redis-clock-jumps"}, {NodeClockJumps, task, "/node-clock-jumps"},
		{NodeCrashes, task, "/node-crashes"}, {NodeHangs, task, "/node-hangs"}, {NodeRestarts, task, "/node-restarts"},
		{Moves, task, ""}, {Polls, task, ""}, {PollsOn, task, ""},
	}
}

func (k Kind) notation() notation {
	all := notations()
	return all[slices.IndexFunc(all[:], func(n notation) bool { return n.kind == k })]
}

// Fault is the name of the fault that a transition of this kind is, "" if it is none.
func (k Kind) Fault() string {
	switch k {
	case Slow:
		return "slow"
	case Expires:
		return "expiry"
	case Pauses, PausesAfter:
		return "pause"
	case DiesBefore, DiesAfter:
		return "crash"
	case LosesReply:
		return "lost-reply"
	case Leaves:
		return "cancel"
	case Unwoken:
		return "lost-wake"
	case LosesRequest:
		return "lost-request"
	case Delays:
		return "late"
	case Resends:
		return "resend"
	case FailsOver:
		return "failover"
	case TimesOut:
		return "timeout"
	case ClockJumps:
		return "clock-jump"
	case RedisClockJumps, NodeClockJumps:
		return "redis-clock"
	case WokenInVain:
		return "spurious-wake"
	case NodeCrashes:
		return "node-crash"
	case NodeHangs:
		return "node-hang"
	case NodeRestarts:
		return "node-restart"
	default:
		return ""
	}
}

// Uses is the name of the fault whose budget it uses up, or of which it is the second half; "" if of none.
func (k Kind) Uses() string {
	if k == Unsynced { // the failover itself comes later
		return "failover"
	}
	return k.Fault()
}

// OfTask reports whether it happens to a task, and its command.
func (k Kind) OfTask() bool { return k.notation().of == task }

// Is reports whether a schedule writes t as it writes w: it does not tell whether a command was asked in vain.
func (w Wanted) Is(k Kind) bool {
	return w.Kind == k || w.Kind == Moves && (k == Polls || k == PollsOn)
}

// Progress reports whether t is the actors' own doing, and may bring them on: a command, or a message.
func (t Transition) Progress() bool { return t.Kind == Moves || t.Kind == Woken }

// hopeful reports whether t can bring somebody on.
func (t Transition) hopeful() bool {
	return t.Progress() || t.Kind == TimePasses || t.Kind == Resumes || t.Kind == Arrives
}

// Token is how a schedule writes a transition of a kind. Its command is known for certain only after it has happened.
func Token(k Kind, who, command string) string {
	switch n := k.notation(); n.of {
	case nobody:
		return n.word
	case task:
		return who + ":" + command + n.word
	default:
		return who + ":" + n.word
	}
}

// Who is the name of the one that t happens to, before it has happened.
func (x *Execution) Who(t Transition) string {
	switch t.Kind.notation().of {
	case nobody:
		return ""
	case process:
		return x.processes[t.ID].Name
	case actor:
		return x.actors[t.ID].Name
	default:
		return x.tasks[t.ID].name
	}
}

// ErrMalformed means that a token is no step of any schedule.
var ErrMalformed = lock.WithCode("bad_request", "that is no step")

// Wanted is a transition as a schedule names it. The command is "" where there is none.
type Wanted struct {
	Kind         Kind
	Who, Command string
}

// Parse reads a token.
func Parse(token string) (Wanted, error) {
	who, what, ok := strings.Cut(token, ":")
	if command, _, _ := strings.Cut(what, "/"); strings.HasSuffix(command, ".lua") {
		now := strings.TrimSuffix(command, ".lua") + strings.TrimPrefix(what, command)
		return Wanted{}, fmt.Errorf("%w: a script is written without .lua now: %s:%s", ErrMalformed, who, now)
	}
	if actor, number, _ := strings.Cut(who, "."); number != "" && strings.Trim(number, "0123456789") == "" {
		return Wanted{}, fmt.Errorf("%w: what %s has started is called by what it does now, as %s.renewal or %s.node1",
			ErrMalformed, actor, actor, actor)
	}
	for _, n := range notations() {
		switch command, found := strings.CutSuffix(what, n.word); {
		case n.of == nobody && token == n.word:
			return Wanted{Kind: n.kind}, nil
		case !ok || who == "" || what == "":
		case n.kind == Moves && !strings.Contains(what, "/"):
			return Wanted{Moves, who, what}, nil
		case n.of == task && n.word != "" && found:
			return Wanted{n.kind, who, command}, nil
		case n.of != task && n.of != nobody && what == n.word:
			return Wanted{n.kind, who, ""}, nil
		}
	}
	if command, suffix, odd := strings.Cut(what, "/"); odd && who != "" {
		return Wanted{}, fmt.Errorf("%w: after %s, it takes %s, not /%s", ErrMalformed, command, strings.Join(words(task), ", "), suffix)
	}
	return Wanted{}, fmt.Errorf("%w: it takes %s", ErrMalformed, strings.Join(Notation(), ", "))
}

// Reserved reports whether WHO:word is not a command, but something else that happens to WHO.
func Reserved(word string) bool {
	return slices.Contains(slices.Concat(words(process), words(actor)), word)
}

// Notation says how a schedule writes its steps, by examples.
func Notation() []string {
	examples := []string{"A:SET"}
	for _, n := range notations() {
		switch n.of {
		case nobody:
			examples = append(examples, n.word)
		case task:
			if n.word != "" {
				examples = append(examples, "A:SET"+n.word)
			}
		default:
			examples = append(examples, "A:"+n.word)
		}
	}
	return examples
}

// words are those of the kinds that happen to such a subject.
func words(of subject) (all []string) {
	for _, n := range notations() {
		if n.of == of && n.word != "" {
			all = append(all, n.word)
		}
	}
	return all
}
