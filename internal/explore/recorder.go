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

// recorder writes down what one execution does. It implements engine.Recorder.
type recorder struct {
	x       *engine.Execution
	judge   *judge.Judge
	steps   []trace.Step
	step    *trace.Step  // the one that is being recorded
	token   string       // its command's, for short
	verb    meaning.Verb // what it does with the lock or the stock
	follows string       // what follows in the pipeline of that, in words
}

// Sending implements engine.Recorder.
func (r *recorder) Sending(server int, commands []redis.Cmder) {
	r.token, r.step.Command = Describe(commands)
	r.verb = meaning.Of(commands[0].Args(), nil, nil).Verb
	r.step.Node = server
}

// Replied implements engine.Recorder.
func (r *recorder) Replied(reply []byte, commands int) {
	r.step.Reply = meaning.Answer(simredis.FormatReply(reply, commands))
}

// PipelineContinues implements engine.Recorder.
func (r *recorder) PipelineContinues(rest []redis.Cmder, arrives bool) {
	var names []string
	for _, command := range rest {
		name, _ := Describe([]redis.Cmder{command})
		names = append(names, name)
	}
	r.follows = r.restSentence(strings.Join(names, ", "), arrives)
}

// Apply lets t happen, and writes down what happened.
func (r *recorder) Apply(t engine.Transition) bool {
	before, who := r.look(), r.x.Subject(t).Name
	before.subscribes = r.x.Subject(t).IsSubscribing()
	of := t.Kind.Budget().Row()
	step := trace.Step{Fault: of.Name, Title: of.Title.In(r.x.Scenario.Language)}
	r.step, r.token, r.verb, r.follows = &step, "", "", ""
	ok := r.x.Apply(t)
	if a := r.x.Subject(t).Actor; a != nil {
		step.Actor = a.Name
		if t.Kind.IsOfTask() || t.Kind.IsWaitEnd() {
			step.Task = strings.TrimPrefix(strings.TrimPrefix(who, a.Name), ".")
		}
	}
	step.Kind = r.kind(t, before)
	if t.Kind.IsOfTask() && r.token == "" {
		r.token = step.Kind
	}
	says := append([]string{r.sentence(t, before), r.follows}, r.changes(before)...)
	says = slices.DeleteFunc(says, func(text string) bool { return text == "" })
	step.Says = strings.Join(says, r.say("; ", "；"))
	step.Token = engine.FormatToken(t.Kind, who, r.token)
	r.snapshot()
	r.steps = append(r.steps, step)
	return ok
}

// Last returns the step that was recorded last.
func (r *recorder) Last() trace.Step { return r.steps[len(r.steps)-1] }

// DropLast forgets it.
func (r *recorder) DropLast() { r.steps = r.steps[:len(r.steps)-1] }

// Trace returns all that was recorded.
func (r *recorder) Trace() trace.Trace {
	all := trace.Trace{Steps: r.steps, Nodes: len(r.nodes()), Language: r.x.Scenario.Language}
	for _, a := range r.x.Actors() {
		all.Actors = append(all.Actors, a.Name)
	}
	return all
}

// kind returns the kind of the step that t was.
func (r *recorder) kind(t engine.Transition, before view) string {
	switch kind := tellings()[t.Kind].kind; {
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

// view is what a step is compared with: what was so before it.
type view struct {
	stored *simredis.State
	locks  []held // of each server
	now    time.Duration
	told   []bool // of each actor
	began  []bool
	ended  []bool

	subscribes bool // is what the step is to do
}

func (r *recorder) look() view {
	v := view{stored: r.x.Cluster.MainState(), locks: r.locks(), now: r.x.Now()}
	for _, a := range r.x.Actors() {
		v.told = append(v.told, r.judge.Sale(a.Index).HasLossNotice())
		v.began = append(v.began, a.Started())
		v.ended = append(v.ended, a.Finished())
	}
	return v
}

// snapshot takes down what is so now.
func (r *recorder) snapshot() {
	step := r.step
	step.At = trace.Millis(r.x.Now())
	if key, has := r.x.Cluster.LockKey(lock.Key); has {
		step.Lock, step.Expires = r.name(r.judge.Holder()), trace.Millis(key.TTL)
	}
	if holders := r.ofSegments(); holders != "" {
		step.Lock = holders
	}
	step.Nodes = r.nodes()
	step.Stock = stockOf(r.x.Cluster.MainState(), 0)
	for _, a := range r.x.Actors() {
		step.Standing = append(step.Standing, r.stance(a))
	}
}

// ofSegments names who holds the locks of segments, each with the number of its segment; "" if nobody does.
func (r *recorder) ofSegments() string {
	var all []string
	for segment := 1; segment <= Segments; segment++ {
		if holder := r.holderOf(segment); holder != "" {
			all = append(all, fmt.Sprintf("%s (%d)", holder, segment))
		}
	}
	return strings.Join(all, ", ")
}

// holderOf names who holds the lock of a segment; "" if nobody does.
func (r *recorder) holderOf(segment int) string {
	key, held := r.x.Cluster.LockKey(service.SegmentKey(lock.Key, segment))
	if !held {
		return ""
	}
	holder, _, _ := strings.Cut(strings.TrimPrefix(key.FirstValue(), lock.Owner("")), ":")
	return holder
}

func (r *recorder) stance(a *engine.Actor) trace.Stance {
	switch inside := r.judge.Sale(a.Index).IsInside(); {
	case a.Dead():
		return trace.Dead
	case !a.Started():
		return trace.Absent
	case a.Finished():
		return trace.Ended
	case a.Paused() && inside:
		return trace.PausedInside
	case a.Paused():
		return trace.Paused
	case inside:
		return trace.Inside
	default:
		return trace.Outside
	}
}
