package explore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/proto"
	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao"
	"lockstep/internal/history"
	"lockstep/internal/lock"
	"lockstep/util/lua"
)

// story tells a schedule to people. Explorations run without one.
type story struct {
	steps []history.Step
	step  *history.Step // the one that is being told
	name  string        // its command's, for short
}

// tell applies c and writes down what happened.
func (w *world) tell(c choice) bool {
	before := w.snapshot()
	step := history.Step{Kind: history.KindTime}
	w.story.step, w.story.name = &step, ""
	ok := w.apply(c)
	switch c.kind {
	case moves, losesReply, diesAfter, diesBefore, pausesAfter, nodeCrashes, nodeHangs, nodeRestarts:
		r := w.routines[c.id]
		step.Actor = r.actor.name
		step.Kind = r.kind(c, step.Command)
		if w.story.name == "" {
			w.story.name = step.Kind
		}
		step.Says = w.saysOf(before, r.actor, step)
	case woken, unwoken:
		p := w.replicas[c.id]
		step.Actor, step.Kind, step.Says = p.actors[0].name, history.KindWoken, p.title()+" is woken"
		if c.kind == unwoken {
			step.Kind, step.Says = history.KindLostWake, "the hint that should wake "+p.title()+" gets lost"
		}
	case pauses, resumes:
		p := w.replicas[c.id]
		step.Actor = p.actors[0].name
		step.Kind, step.Says = history.KindPauses, p.title()+" stops, timers and all"
		if c.kind == resumes {
			step.Kind, step.Says = history.KindResumes, p.title()+" goes on"
		}
	case leaves:
		a := w.actors[c.id]
		step.Actor, step.Kind, step.Says = a.name, history.KindLeaves, a.name+"'s client goes away"
	case timePasses, slow, expires:
		step.Says = w.saysOfTime(before)
	}
	step.Token = w.token(c, w.story.name)
	step.Says = strings.Join(append([]string{step.Says}, w.changes(before)...), "; ")
	step.Says = strings.TrimPrefix(step.Says, "; ")
	w.stand(&step)
	w.story.steps = append(w.story.steps, step)
	return ok
}

// trace is all that was told.
func (w *world) trace() history.Trace {
	t := history.Trace{Steps: w.story.steps}
	for _, a := range w.actors {
		t.Actors = append(t.Actors, a.name)
	}
	return t
}

func (r *routine) kind(c choice, command string) string {
	switch {
	case c.kind == diesBefore || c.kind == diesAfter:
		return history.KindDies
	case c.kind == losesReply:
		return history.KindLostReply
	case c.kind == pausesAfter:
		return history.KindReadsLate
	case command != "":
		return history.KindCommand
	case r.ended:
		return history.KindEnds
	default:
		return history.KindWaits
	}
}

// title names a process in a sentence.
func (p *replica) title() string {
	if len(p.actors) == 1 {
		return p.actors[0].name
	}
	var names []string
	for _, a := range p.actors {
		names = append(names, a.name)
	}
	return fmt.Sprintf("%s (%s)", p.name, strings.Join(names, ", "))
}

// snapshot is what a step is compared with.
type snapshot struct {
	stored *state
	locks  []*state
	holder int
	now    time.Duration
	told   []bool
	ended  []bool
}

func (w *world) snapshot() snapshot {
	s := snapshot{stored: w.stored(), holder: w.judge.holder, now: w.now}
	for _, keeper := range w.keepers() {
		s.locks = append(s.locks, keeper.holds)
	}
	for _, a := range w.actors {
		s.told = append(s.told, len(a.leases) > 0 && a.told())
		s.ended = append(s.ended, a.finished)
	}
	return s
}

// command takes down a command as it goes out.
func (s *story) command(r *routine) {
	if s != nil {
		s.name, s.step.Command = describe(r.pending)
	}
}

// reply takes down what came back.
func (s *story) reply(raw []byte, commands int) {
	if s != nil {
		s.step.Reply = readable(raw, commands)
	}
}

// describe gives a command's short name, and all of it. What it writes into the ledger is not worth the space.
func describe(cmds []redis.Cmder) (name, all string) {
	var parts []string
	for i, cmd := range cmds {
		var words []string
		for _, arg := range cmd.Args() {
			words = append(words, fmt.Sprint(arg))
		}
		words[0] = strings.ToUpper(words[0])
		short := words[0]
		if short == "EVAL" && len(words) > 2 {
			short = lua.Name(words[1])
			words = append([]string{"EVAL"}, aboutStock(short, words[1], words[3:])...)
		}
		if i == 0 {
			name, _, _ = strings.Cut(short, " ")
		}
		parts = append(parts, strings.Join(words, " "))
	}
	return name, strings.Join(parts, ", ")
}

// aboutStock says what the store's scripts do with the stock. Of others it gives the name, the keys and the arguments.
func aboutStock(name, script string, words []string) []string {
	var says, token string
	switch script {
	case lua.Write:
		says, token = "SET "+words[0]+" "+words[5], words[6]
	case lua.ReadFenced:
		says, token = "GET "+words[0], words[3]
	case lua.Take:
		says, token = "DECR "+words[0], "0"
	default:
		return append([]string{name}, words...)
	}
	if token != "0" {
		says += " (token " + token + ")"
	}
	return []string{name + ":", says}
}

// readable writes a reply as redis-cli does, more or less. Of several, the first error, or else that all went well.
func readable(raw []byte, commands int) string {
	text := "?"
	for r := bufio.NewReader(bytes.NewReader(raw)); ; {
		message, err := proto.Read(r)
		if err != nil {
			break
		}
		if strings.HasPrefix(message, "-") {
			return "error " + strings.TrimSpace(message[1:])
		}
		switch value, err := proto.Parse(message); {
		case err != nil || strings.HasPrefix(message, "$-1") || strings.HasPrefix(message, "*-1"):
			text = "nil"
		default:
			text = fmt.Sprint(value)
		}
	}
	if commands > 1 && text != "nil" {
		return "OK"
	}
	return text
}

// saysOf tells what a's step did, from what Redis held before it and holds now.
func (w *world) saysOf(before snapshot, a *actor, step history.Step) string {
	var says string
	was, had := held(before.locks)
	is, has := held(w.locks())
	left := w.stored().stock()
	words := strings.Fields(step.Command)
	about := func(key string) bool { return slices.Contains(words, key) }
	switch {
	case step.Command == "" && step.Kind == history.KindDies:
		return a.name + " dies"
	case step.Kind == history.KindWaits:
		return a.name + " waits"
	case step.Command == "":
	case !had && has:
		says = a.name + " takes the lock"
	case had && !has && before.holder == a.index:
		says = a.name + " gives the lock back"
	case had && !has:
		says = a.name + " removes " + w.whose(before.holder) + " lock"
	case had && before.holder == a.index && w.judge.holder >= 0 && w.judge.holder != a.index:
		says = a.name + " hands the lock to " + w.actors[w.judge.holder].name
	case had && before.holder != a.index && w.judge.holder == a.index:
		says = a.name + " takes the lock, which was " + w.whose(before.holder)
	case had && len(is.values) == 1 && !slices.Equal(was.values, is.values):
		says = a.name + " writes over " + w.whose(before.holder) + " lock"
	case had && !slices.Equal(was.values, is.values):
		says = a.name + " counts its lock: " + strings.Join(is.values[1:], " ")
	case had && is.ttl > was.ttl:
		says = a.name + " renews " + w.whose(before.holder) + " lock"
	case left != before.stored.stock():
		says = a.name + " writes stock " + left
	case about(dao.InventoryKey) && strings.HasSuffix(step.Reply, "[0]"), about(dao.InventoryKey) && step.Reply == "0":
		says = a.name + " is refused: its token is stale"
	case about(dao.InventoryKey) && (words[0] == "GET" || w.story.name == "readFenced.lua"):
		says = a.name + " reads stock " + left
	case about(dao.InventoryKey):
		says = a.name + " writes stock " + left
	case about(lock.Key) && has:
		says = a.name + " finds the lock to be " + w.whose(w.judge.holder)
	case about(lock.Key):
		says = a.name + " finds no lock"
	}
	if before.told[a.index] {
		says += ", which was on its way"
	}
	switch step.Kind {
	case history.KindLostReply:
		says += ", but never gets the reply"
	case history.KindDies:
		says += ", and dies"
	case history.KindReadsLate:
		says += ", but stops before it has read the reply"
	}
	return says
}

func (w *world) whose(holder int) string {
	if holder < 0 {
		return "nobody's"
	}
	return w.actors[holder].name + "'s"
}

// saysOfTime tells what passing time did.
func (w *world) saysOfTime(before snapshot) string {
	says := fmt.Sprintf("%v later", (w.now - before.now).Round(time.Millisecond))
	was, had := held(before.locks)
	if _, has := held(w.locks()); had && was.ttl > 0 && !has {
		says += ": " + w.whose(before.holder) + " lock expires"
	}
	return says
}

// changes tells what has changed for the actors.
func (w *world) changes(before snapshot) []string {
	var says []string
	for i, a := range w.actors {
		if len(a.leases) > 0 && a.told() && !before.told[i] {
			says = append(says, a.name+" is told that it lost the lock")
		}
		switch {
		case !a.finished || before.ended[i] || a.replica.dead:
		case a.err == nil:
			says = append(says, a.name+" has sold")
		default:
			says = append(says, a.name+" fails: "+inShort(a.err))
		}
	}
	return says
}

// inShort says why a sale failed, without what it was doing.
func inShort(err error) string {
	for _, known := range []error{
		lock.ErrNotObtained, lock.ErrTimeout, lock.ErrLost, lock.ErrCancelled, lock.ErrOutcomeUnknown, lock.ErrUnavailable,
	} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return err.Error()
}

// stand takes down what is so now.
func (w *world) stand(step *history.Step) {
	step.At = history.Millis(w.now)
	if key, has := held(w.locks()); has {
		step.Lock, step.Expires = "nobody", history.Millis(key.ttl)
		if w.judge.holder >= 0 {
			step.Lock = w.actors[w.judge.holder].name
		}
	}
	step.Stock = w.stored().stock()
	for _, a := range w.actors {
		stance := history.Outside
		switch {
		case a.replica.dead:
			stance = history.Dead
		case !a.started:
			stance = history.Absent
		case a.finished:
			stance = history.Ended
		case a.replica.paused && a.inside():
			stance = history.PausedInside
		case a.replica.paused:
			stance = history.Paused
		case a.inside():
			stance = history.Inside
		}
		step.Standing = append(step.Standing, stance)
	}
}
