package explore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/explore/engine"
	"lockstep/internal/explore/judge"
	"lockstep/internal/explore/simredis"
	"lockstep/internal/lock"
	"lockstep/internal/redis/meaning"
	"lockstep/internal/service"
	"lockstep/internal/trace"
)

// recorder writes down the steps of one execution as a trace. It receives commands and replies as the engine.Recorder.
type recorder struct {
	engine *engine.Execution // execution that is recorded
	judge  *judge.Judge      // judge of the execution
	steps  []trace.Step      // steps recorded so far

	// The step that is being recorded:
	step         *trace.Step
	token        string       // short name of its command
	verb         meaning.Verb // effect of its command on the lock or the stock
	pipelineRest string       // sentence about the rest of its pipeline; "": there is no rest
}

// OnSend records the commands that the current step sends to a server.
func (r *recorder) OnSend(server int, commands []redis.Cmder) {
	name, text := Describe(commands)
	r.token = name
	r.step.Command = text
	r.verb = meaning.Of(commands[0].Args(), nil, nil).Verb
	r.step.Node = server
}

// OnReply records the reply to the commands of the current step.
func (r *recorder) OnReply(reply []byte, commands int) {
	r.step.Reply = meaning.ShortReply(simredis.FormatReply(reply, commands))
}

// OnPipelineRest records what becomes of the remaining commands of a pipeline.
func (r *recorder) OnPipelineRest(rest []redis.Cmder, arrives bool) {
	var names []string
	for _, command := range rest {
		name, _ := Describe([]redis.Cmder{command})
		names = append(names, name)
	}
	r.pipelineRest = r.pipelineSentence(strings.Join(names, ", "), arrives)
}

// Apply takes a transition and records it as a step. It returns the result of engine.Execution.Apply.
func (r *recorder) Apply(t engine.Transition) bool {
	before, subject := r.takeBaseline(), r.engine.Subject(t).Name
	before.subscribes = r.engine.Subject(t).IsSubscribing()
	fault := t.Kind.Budget().Row()
	step := trace.Step{Fault: fault.Name, Title: fault.Title.In(r.engine.Scenario.Language)}
	r.step = &step
	r.token, r.verb, r.pipelineRest = "", "", ""
	ok := r.engine.Apply(t)
	if a := r.engine.Subject(t).Actor; a != nil {
		step.Actor = a.Name
		if t.Kind.IsTaskStep() || t.Kind.IsWaitEnd() {
			step.Task = strings.TrimPrefix(strings.TrimPrefix(subject, a.Name), ".")
		}
	}
	step.Kind = r.kindOf(t, before)
	if t.Kind.IsTaskStep() && r.token == "" {
		r.token = step.Kind
	}
	sentences := append([]string{r.sentence(t, before), r.pipelineRest}, r.actorSentences(before)...)
	sentences = slices.DeleteFunc(sentences, func(text string) bool { return text == "" })
	step.Says = strings.Join(sentences, r.say("; ", "；"))
	step.Token = engine.FormatToken(t.Kind, subject, r.token)
	r.recordState()
	r.steps = append(r.steps, step)
	return ok
}

// Last returns the last recorded step.
func (r *recorder) Last() trace.Step { return r.steps[len(r.steps)-1] }

// DropLast removes the last recorded step.
func (r *recorder) DropLast() { r.steps = r.steps[:len(r.steps)-1] }

// Trace returns all recorded steps.
func (r *recorder) Trace() trace.Trace {
	recorded := trace.Trace{Steps: r.steps, Nodes: len(r.nodes()), Language: r.engine.Scenario.Language}
	for _, a := range r.engine.Actors() {
		recorded.Actors = append(recorded.Actors, a.Name)
	}
	return recorded
}

// kindOf returns the kind of the current step, which transition t has made.
func (r *recorder) kindOf(t engine.Transition, before baseline) string {
	kind := stepTexts()[t.Kind].kind
	switch {
	case kind != "":
		return kind
	case r.step.Command != "":
		return trace.KindCommand
	case before.subscribes:
		return trace.KindSubscribes
	case r.engine.Subject(t).Pending() != nil:
		return trace.KindBegins
	case r.engine.Subject(t).Ended():
		return trace.KindEnds
	default:
		return trace.KindWaits
	}
}

// baseline is the state before a step, for comparison with the state after it. Its slices are indexed by server or by actor.
type baseline struct {
	stored      *simredis.State // contents of the server with the stock
	locks       []serverLock    // lock on each server
	now         time.Duration   // virtual time
	lossNotices []bool          // whether each actor knows that it has lost the lock
	started     []bool          // whether each actor has begun its sale
	finished    []bool          // whether each actor's sale has returned

	subscribes bool // the step is a subscription
}

// takeBaseline returns the current state.
func (r *recorder) takeBaseline() baseline {
	b := baseline{stored: r.engine.Cluster.MainState(), locks: r.locks(), now: r.engine.Now()}
	for _, a := range r.engine.Actors() {
		b.lossNotices = append(b.lossNotices, r.judge.Sale(a.Index).HasLossNotice())
		b.started = append(b.started, a.Started())
		b.finished = append(b.finished, a.Finished())
	}
	return b
}

// recordState records the state after the current step: the lock, the stock, and the stance of each actor.
func (r *recorder) recordState() {
	step := r.step
	step.At = trace.Millis(r.engine.Now())
	if key, ok := r.engine.Cluster.LockKey(lock.Key); ok {
		step.Lock = r.holderName(r.judge.Holder())
		step.Expires = trace.Millis(key.TTL)
	}
	if holders := r.segmentHolders(); holders != "" {
		step.Lock = holders
	}
	step.Nodes = r.nodes()
	step.Stock = stockOf(r.engine.Cluster.MainState(), 0)
	for _, a := range r.engine.Actors() {
		step.Standing = append(step.Standing, r.stance(a))
	}
}

// segmentHolders lists the holders of segment locks, each with the number of the segment. It returns "" if no segment lock is held.
func (r *recorder) segmentHolders() string {
	var holders []string
	for segment := 1; segment <= Segments; segment++ {
		if holder := r.segmentHolder(segment); holder != "" {
			holders = append(holders, fmt.Sprintf("%s (%d)", holder, segment))
		}
	}
	return strings.Join(holders, ", ")
}

// segmentHolder returns the name of the holder of a segment's lock, or "" if the lock is free.
func (r *recorder) segmentHolder(segment int) string {
	key, held := r.engine.Cluster.LockKey(service.SegmentKey(lock.Key, segment))
	if !held {
		return ""
	}
	holder, _, _ := strings.Cut(strings.TrimPrefix(key.FirstValue(), lock.Owner("")), ":")
	return holder
}

// stance returns the state of an actor for a trace.
func (r *recorder) stance(a *engine.Actor) trace.Stance {
	entered := r.judge.Sale(a.Index).IsInCriticalSection()
	switch {
	case a.Dead():
		return trace.Dead
	case !a.Started():
		return trace.Absent
	case a.Finished():
		return trace.Ended
	case a.Paused() && entered:
		return trace.PausedInside
	case a.Paused():
		return trace.Paused
	case entered:
		return trace.Inside
	default:
		return trace.Outside
	}
}
