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

// recorder writes down the steps of one execution as a trace. It implements engine.Recorder.
type recorder struct {
	x     *engine.Execution
	judge *judge.Judge
	steps []trace.Step

	// What is known of the step that is being recorded:
	step         *trace.Step
	token        string       // short name of its command
	verb         meaning.Verb // effect of its command on the lock or the stock
	pipelineRest string       // sentence about the rest of its pipeline; "": there is no rest
}

// OnSend implements engine.Recorder.
func (r *recorder) OnSend(server int, commands []redis.Cmder) {
	name, text := Describe(commands)
	r.token = name
	r.step.Command = text
	r.verb = meaning.Of(commands[0].Args(), nil, nil).Verb
	r.step.Node = server
}

// OnReply implements engine.Recorder.
func (r *recorder) OnReply(reply []byte, commands int) {
	r.step.Reply = meaning.ShortReply(simredis.FormatReply(reply, commands))
}

// OnPipelineRest implements engine.Recorder.
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
	before, subject := r.takeBaseline(), r.x.Subject(t).Name
	before.subscribes = r.x.Subject(t).IsSubscribing()
	fault := t.Kind.Budget().Row()
	step := trace.Step{Fault: fault.Name, Title: fault.Title.In(r.x.Scenario.Language)}
	r.step = &step
	r.token, r.verb, r.pipelineRest = "", "", ""
	ok := r.x.Apply(t)
	if a := r.x.Subject(t).Actor; a != nil {
		step.Actor = a.Name
		if t.Kind.IsTaskStep() || t.Kind.IsWaitEnd() {
			step.Task = strings.TrimPrefix(strings.TrimPrefix(subject, a.Name), ".")
		}
	}
	step.Kind = r.kind(t, before)
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
	recorded := trace.Trace{Steps: r.steps, Nodes: len(r.nodes()), Language: r.x.Scenario.Language}
	for _, a := range r.x.Actors() {
		recorded.Actors = append(recorded.Actors, a.Name)
	}
	return recorded
}

// kind returns the kind of the current step, which a transition has led to.
func (r *recorder) kind(t engine.Transition, before baseline) string {
	kind := stepTexts()[t.Kind].kind
	switch {
	case kind != "":
		return kind
	case r.step.Command != "":
		return trace.KindCommand
	case before.subscribes:
		return trace.KindSubscribes
	case r.x.Subject(t).Pending() != nil:
		return trace.KindBegins
	case r.x.Subject(t).Ended():
		return trace.KindEnds
	default:
		return trace.KindWaits
	}
}

// baseline is the state before a step, with which the state after the step is compared. Its slices are by server or by actor index.
type baseline struct {
	stored      *simredis.State // contents of the server with the stock
	locks       []serverLock
	now         time.Duration
	lossNotices []bool // whether each actor knows that it has lost the lock
	started     []bool
	finished    []bool

	subscribes bool // the step is a subscription
}

// takeBaseline returns the current state.
func (r *recorder) takeBaseline() baseline {
	b := baseline{stored: r.x.Cluster.MainState(), locks: r.locks(), now: r.x.Now()}
	for _, a := range r.x.Actors() {
		b.lossNotices = append(b.lossNotices, r.judge.Sale(a.Index).HasLossNotice())
		b.started = append(b.started, a.Started())
		b.finished = append(b.finished, a.Finished())
	}
	return b
}

// recordState records the state after the current step: the lock, the stock, and where each actor stands.
func (r *recorder) recordState() {
	step := r.step
	step.At = trace.Millis(r.x.Now())
	if key, ok := r.x.Cluster.LockKey(lock.Key); ok {
		step.Lock = r.holderName(r.judge.Holder())
		step.Expires = trace.Millis(key.TTL)
	}
	if holders := r.segmentHolders(); holders != "" {
		step.Lock = holders
	}
	step.Nodes = r.nodes()
	step.Stock = stockOf(r.x.Cluster.MainState(), 0)
	for _, a := range r.x.Actors() {
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
	key, held := r.x.Cluster.LockKey(service.SegmentKey(lock.Key, segment))
	if !held {
		return ""
	}
	holder, _, _ := strings.Cut(strings.TrimPrefix(key.FirstValue(), lock.Owner("")), ":")
	return holder
}

// stance returns where an actor stands.
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
