package engine

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
	Resumes                       // and goes on
	Leaves                        // an actor's client goes away: its context is cancelled
	Woken                         // a message reaches a process
	Unwoken                       // a message gets lost
	LosesRequest                  // its next command never takes effect
	Delays                        // its next command takes effect later
	Arrives                       // now
	NeverArrives                  // the rest of its pipeline never takes effect
	Resends                       // its next command takes effect, the reply is lost, and the client is about to send it again
	Unsynced                      // its next command takes effect, and a replica gets neither this nor what follows
	FailsOver                     // that replica takes the place of its master
	Unsaved                       // its next command takes effect, and neither this nor what follows is in the server's snapshot
	RollsBack                     // that server restarts with its snapshot
	Evicts                        // the server with the stock and the lock evicts the lock
	TimesOut                      // an actor's timeout comes that no time would bring
	ClockJumps                    // a process's clock jumps ahead
	RedisClockJumps               // the clock of the server with the stock and the lock does
	NodeClockJumps                // a node's does
	NodeCrashes                   // a node refuses connections from then on
	NodeHangs                     // a node does not answer any more
	NodeRestarts                  // a node forgets what it held
	LeavesUnnoticed               // an actor's client goes away, and its sale, which waits, notices that later
	TimesOutUnnoticed             // an actor's timeout comes, and its sale notices that later
	Notices                       // a waiter notices that its context has ended
	GoesOn                        // it gets what it waited for, though its context has ended, or that of one before it
	kinds                         // so many there are
)

// subject is what a kind happens to.
type subject uint8

const (
	nobody subject = iota
	process
	actor
	task
	waiter // a task in a wait
)

// notation is how a schedule writes a kind: the word alone, WHO:word, or, of a task, WHO:COMMANDword.
type notation struct {
	of    subject
	word  string
	fault string // that it is, "" if it is none
	// budget that it uses up, nil if none. The first half of a failover, or of a rollback, does so: the second has to come.
	budget func(*Faults) *int
}

type faults = Faults

// notations has that of each kind.
func notations() [kinds]notation {
	return [kinds]notation{
		Moves:           {of: task},
		PollsOn:         {of: task},
		TimePasses:      {of: nobody, word: "time"},
		Slow:            {nobody, "slow", "slow", func(f *faults) *int { return &f.Slow }},
		Expires:         {nobody, "expiry", "expiry", func(f *faults) *int { return &f.Expiry }},
		LosesReply:      {task, "/lost", "lost-reply", func(f *faults) *int { return &f.LostReply }},
		DiesBefore:      {task, "/dies-before", "crash", func(f *faults) *int { return &f.Crash }},
		DiesAfter:       {task, "/dies-after", "crash", func(f *faults) *int { return &f.Crash }},
		PausesAfter:     {task, "/pauses-after", "pause", func(f *faults) *int { return &f.Pause }},
		Pauses:          {process, "pauses", "pause", func(f *faults) *int { return &f.Pause }},
		Resumes:         {of: process, word: "resumes"},
		Leaves:          {actor, "leaves", "cancel", func(f *faults) *int { return &f.Cancel }},
		Woken:           {of: process, word: "woken"},
		Unwoken:         {process, "unwoken", "lost-wake", func(f *faults) *int { return &f.LostWake }},
		LosesRequest:    {task, "/lost-request", "lost-request", func(f *faults) *int { return &f.LostRequest }},
		Delays:          {task, "/late", "late", func(f *faults) *int { return &f.Late }},
		Arrives:         {of: task, word: "/arrives"},
		NeverArrives:    {of: task, word: "/never-arrives"},
		Resends:         {task, "/resent", "resend", func(f *faults) *int { return &f.Resend }},
		Unsynced:        {task, "/unsynced", "", func(f *faults) *int { return &f.Failover }},
		FailsOver:       {of: nobody, word: "failover", fault: "failover"},
		Unsaved:         {task, "/unsaved", "", func(f *faults) *int { return &f.Rollback }},
		RollsBack:       {of: nobody, word: "rollback", fault: "rollback"},
		Evicts:          {nobody, "evict", "evict", func(f *faults) *int { return &f.Evict }},
		TimesOut:        {actor, "times-out", "timeout", func(f *faults) *int { return &f.Timeout }},
		ClockJumps:      {process, "clock-jumps", "clock-jump", func(f *faults) *int { return &f.ClockJump }},
		RedisClockJumps: {nobody, "redis-clock-jumps", "redis-clock", func(f *faults) *int { return &f.RedisClockJump }},
		NodeClockJumps:  {task, "/node-clock-jumps", "redis-clock", func(f *faults) *int { return &f.RedisClockJump }},
		NodeCrashes:     {task, "/node-crashes", "node-crash", func(f *faults) *int { return &f.NodeCrash }},
		NodeHangs:       {task, "/node-hangs", "node-hang", func(f *faults) *int { return &f.NodeHang }},
		NodeRestarts:    {task, "/node-restarts", "node-restart", func(f *faults) *int { return &f.NodeRestart }},

		LeavesUnnoticed:   {actor, "leaves-unnoticed", "cancel", func(f *faults) *int { return &f.Cancel }},
		TimesOutUnnoticed: {actor, "times-out-unnoticed", "timeout", func(f *faults) *int { return &f.Timeout }},
		Notices:           {of: waiter, word: "notices"},
		GoesOn:            {of: waiter, word: "goes-on"},
	}
}

func (k Kind) notation() notation { return notations()[k] }

// Fault returns the name of the fault that a transition of this kind is, "" if it is none.
func (k Kind) Fault() string { return k.notation().fault }

// Budget returns the name of the fault whose budget it uses up, or of which it is the second half; "" if of none.
func (k Kind) Budget() string {
	switch k { // the failover or the rollback itself comes later
	case Unsynced:
		return FailsOver.Fault()
	case Unsaved:
		return RollsBack.Fault()
	default:
		return k.Fault()
	}
}

// OfTask reports whether it happens to a task, and its command.
func (k Kind) OfTask() bool { return k.notation().of == task }

// OfWaiter reports whether it ends a task's wait.
func (k Kind) OfWaiter() bool { return k.notation().of == waiter }

// Is reports whether a schedule writes t as it writes w: it does not tell whether a command was asked in vain.
func (w Wanted) Is(k Kind) bool {
	return w.Kind == k || w.Kind == Moves && k == PollsOn
}

// Progress reports whether t is the actors' own doing, and may bring them on: a command, a message, or the end of a wait.
func (t Transition) Progress() bool { return t.Kind == Moves || t.Kind == Woken || t.Kind.OfWaiter() }

// canSucceed reports whether t can bring somebody on.
func (t Transition) canSucceed() bool {
	return t.Progress() || t.Kind == TimePasses || t.Kind == Resumes || t.Kind == Arrives
}

// Token returns how a schedule writes a transition of a kind. Its command is known for certain only after it has happened.
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

// subject returns the name of the one that t happens to, and the actor: of a process, its first; of time, nil.
func (x *scheduler) subject(t Transition) (name string, a *Actor) {
	switch t.Kind.notation().of {
	case nobody:
		return "", nil
	case process:
		return x.processes[t.ID].Name, x.processes[t.ID].actors[0]
	case actor:
		return x.actors[t.ID].Name, x.actors[t.ID]
	default:
		return x.tasks[t.ID].name(), x.tasks[t.ID].actor
	}
}

// Who returns the name of the one that t happens to, before it has happened.
func (x *scheduler) Who(t Transition) string {
	name, _ := x.subject(t)
	return name
}

// Actor returns the one that t happens to.
func (x *scheduler) Actor(t Transition) *Actor {
	_, a := x.subject(t)
	return a
}

// ErrMalformed means that a token is no step of any schedule.
var ErrMalformed = lock.WithCode("bad_request", "that is no step")

// Wanted is a transition as a schedule names it. The command is "" where there is none.
type Wanted struct {
	Kind         Kind
	Who, Command string
}

// ParseToken reads a token.
func ParseToken(token string) (Wanted, error) {
	who, what, ok := strings.Cut(token, ":")
	ok = ok && who != "" && what != ""
	for k, n := range notations() {
		switch command, found := strings.CutSuffix(what, n.word); {
		case n.word == "":
		case n.of == nobody && token == n.word:
			return Wanted{Kind: Kind(k)}, nil //nolint:gosec // they are few
		case ok && n.of == task && found:
			return Wanted{Kind(k), who, command}, nil //nolint:gosec // they are few
		case ok && n.of != task && n.of != nobody && what == n.word:
			return Wanted{Kind(k), who, ""}, nil //nolint:gosec // they are few
		}
	}
	if command, suffix, odd := strings.Cut(what, "/"); odd && who != "" {
		return Wanted{}, fmt.Errorf("%w: after %s, it takes %s, not /%s", ErrMalformed, command, strings.Join(words(task), ", "), suffix)
	}
	if ok {
		return Wanted{Moves, who, what}, nil
	}
	return Wanted{}, fmt.Errorf("%w: it takes %s", ErrMalformed, strings.Join(Notation(), ", "))
}

// Budgets returns the faults that a schedule needs.
func Budgets(schedule string) (budgets Faults) {
	for token := range strings.FieldsSeq(schedule) {
		if want, err := ParseToken(token); err == nil && want.Kind.notation().budget != nil {
			*want.Kind.notation().budget(&budgets)++
		}
	}
	return budgets
}

// Reserved reports whether WHO:word is not a command, but something else that happens to WHO.
func Reserved(word string) bool {
	return slices.Contains(slices.Concat(words(process), words(actor), words(waiter)), word)
}

// Notation says how a schedule writes its steps, by examples.
func Notation() (examples []string) {
	for k := Moves; k < kinds; k++ {
		if example := Token(k, "A", "SET"); !slices.Contains(examples, example) {
			examples = append(examples, example)
		}
	}
	return examples
}

// words returns those of the kinds that happen to such a subject.
func words(of subject) (all []string) {
	for _, n := range notations() {
		if n.of == of && n.word != "" {
			all = append(all, n.word)
		}
	}
	return all
}
