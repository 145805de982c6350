package trace

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"lockstep/internal/language"
)

const sec = Millis(1_000_000_000)

// traceOnNodes returns a trace in which B uses a node that restarted empty.
func traceOnNodes() Trace {
	nodes := func(locks ...string) (all []Node) {
		for _, l := range locks {
			all = append(all, Node{Well, l})
		}
		return all
	}
	down := nodes("A", "B")
	down[0].Health = Crashed
	hangs := nodes("", "B")
	hangs[0].Health, hangs[1].Health = Crashed, Hung
	both := []Stance{Outside, Outside}
	return Trace{Actors: []string{"A", "B"}, Nodes: 2, Verdict: "it is over", Steps: []Step{
		{Token: "A.1:SET", Actor: "A", Kind: KindCommand, Command: "SET k A", Reply: "OK", Says: "A takes the lock on node 1", Node: 1,
			Stock: "100", Standing: []Stance{Outside, Absent}, Nodes: nodes("A", "")},
		{Token: "A.2:SET", Actor: "A", Kind: KindCommand, Command: "SET k A", Reply: "OK", Says: "A takes the lock on node 2", Node: 2,
			Stock: "100", Standing: []Stance{Inside, Absent}, Nodes: nodes("A", "A")},
		{Token: "B.2:SET/node-restarts", Actor: "B", Kind: KindCommand, Command: "SET k B", Reply: "OK", Says: "node 2 restarts empty",
			Fault: "node-restart", Node: 2, Stock: "100", Standing: both, Nodes: nodes("A", "B")},
		{Token: "B.1:SET/node-crashes", Actor: "B", Kind: KindCommand, Command: "SET k B", Reply: "error", Says: "node 1 goes down",
			Fault: "node-crash", Node: 1, Stock: "100", Standing: both, Nodes: down},
		{Token: "A.4:GET/node-hangs", Actor: "A", Kind: KindCommand, Command: "GET k", Reply: "B", Fault: "node-hang", Node: 2,
			Stock: "100", Standing: both, Nodes: hangs},
		{Token: "time", Kind: KindTime, Says: "10s later", Stock: "100", Standing: both, Nodes: hangs},
		{Token: "A:GET", Actor: "A", Kind: KindCommand, Command: "GET stock", Reply: "100", Stock: "100", Standing: both, Nodes: hangs},
	}}
}

// Each node has a lifeline for the arrows, which shows the lock's holder there and whether the node answers. A fault has a horizontal rule.
func TestSequenceDrawsLifelineOfEachNode(t *testing.T) {
	//nolint:dupword // a drawing
	const want = `     A        B      node1  node2  Redis
  1  ├────────────────▶A      │      │   SET k A → OK
     │                 A      │      │   A takes the lock on node 1
     │                 A      │      │   [stock: 100]
  2  ├─────────────────A─────▶A      │   SET k A → OK
     ┃                 A      A      │   A takes the lock on node 2
  3  ┄┄┄┄┄┄┄┄┄ node-restart ┄┄┄┄┄┄┄┄┄┄
     │        ├────────A─────▶○      │   SET k B → OK
     │        │        A      B      │   node 2 restarts empty
  4  ┄┄┄┄┄┄┄┄┄┄ node-crash ┄┄┄┄┄┄┄┄┄┄┄
     │        ├───────▶✗      B      │   SET k B → error
     │        │               B      │   node 1 goes down
  5  ┄┄┄┄┄┄┄┄┄┄┄ node-hang ┄┄┄┄┄┄┄┄┄┄┄
     ├────────┼──────────────▶┊      │   GET k → B, never sent
  6  │        │               ◷      ◷   10s later
  7  ├────────┼───────────────┼─────▶│   GET stock → 100
  ✗  it is over
`
	if got := traceOnNodes().Sequence(); got != want {
		t.Errorf("drawn is\n%s\nwant\n%s", got, want)
	}
}

func TestMermaidNamesNodes(t *testing.T) {
	got := traceOnNodes().Mermaid()
	for _, want := range []string{
		"  participant node1\n  participant node2\n  participant Redis\n",
		"  A->>node1: SET k A\n  node1-->>A: OK\n",
		"  Note over A,Redis: ┄┄ node-restart ┄┄\n  B->>node2: SET k B\n",
		"  A->>node2: GET k\n  Note over A,Redis: 10s later\n", // the node hangs, so there is no reply
		"  A->>Redis: GET stock\n  Redis-->>A: 100\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("Mermaid is\n%s\nand lacks\n%s", got, want)
		}
	}
}

// The state after a step shows every node in full.
func TestStateShowsEachNode(t *testing.T) {
	for step, want := range map[int]string{
		1: "node 1: A, node 2: A; stock: 100", 3: "node 1: down, node 2: B; stock: 100", 4: "node 1: down, node 2: B (hangs); stock: 100",
	} {
		if got := traceOnNodes().Steps[step].State(language.English); got != want {
			t.Errorf("after step %d: %s; want %s", step+1, got, want)
		}
	}
}

// A single Redis has one lifeline. A fault has a horizontal rule, and a dead actor has a cross below its last command.
func TestSequenceDrawsOneRedis(t *testing.T) {
	trace := Trace{Actors: []string{"A", "B"}, Steps: []Step{
		{Actor: "A", Kind: KindDies, Command: "SET k A", Reply: "OK", Says: "A takes the lock, and dies", Fault: "crash",
			Lock: "A", Expires: 10 * sec, Standing: []Stance{Dead, Absent}},
		{Actor: "B", Kind: KindUnsynced, Command: "SET k B", Reply: "nil", Fault: "failover",
			Lock: "A", Expires: 10 * sec, Standing: []Stance{Dead, Outside}},
		{Kind: KindTime, Says: "10s later: A's lock expires", Fault: "expiry", Standing: []Stance{Dead, Outside}},
		{Actor: "B", Task: "renewal", Kind: KindCommand, Command: "GET k", Reply: "nil", Standing: []Stance{Dead, Outside}},
		{Token: "B:pushed", Actor: "B", Kind: KindWoken, Standing: []Stance{Dead, Outside}},
	}}
	const want = `     A        B      Redis
  1  ┄┄┄┄┄┄ crash ┄┄┄┄┄┄
     ├────────────────▶│   SET k A → OK
     ✗                 │   A takes the lock, and dies
                       │   [lock: A, for 10s]
  2  ┄┄ failover to come ┄┄
              ├───────▶│   SET k B → nil
  3  ┄┄┄┄┄ expiry ┄┄┄┄┄┄
              │        ◷   10s later: A's lock expires
              │        │   [no lock]
  4           ├───────▶│   GET k → nil (B.renewal)
  5           !        │   B:pushed
`
	if got := trace.Sequence(); got != want {
		t.Errorf("drawn is\n%s\nwant\n%s", got, want)
	}
}

// A diagram of three actors fits a projector, whatever its texts, and each step has its number once.
func TestSequenceIsNotTooWide(t *testing.T) {
	trace := traceOnNodes()
	trace.Actors = append(trace.Actors, "C")
	for i := range trace.Steps {
		trace.Steps[i].Command += strings.Repeat(" {distributedLock}:queue", 10)
		trace.Steps[i].Says += strings.Repeat(" and so on", 20)
		trace.Steps[i].Standing = append(trace.Steps[i].Standing, Outside)
	}
	for _, full := range []bool{false, true} {
		drawn, number := trace.EachStep(full), 1
		for line := range strings.Lines(drawn) {
			if wide := utf8.RuneCountInString(line) - 1; wide > maxWidth {
				t.Errorf("%d columns: %s", wide, line)
			}
			if strings.HasPrefix(line, fmt.Sprintf("%3d  ", number)) {
				number++
			}
		}
		if number-1 != len(trace.Steps) {
			t.Errorf("%d steps have a number; want %d:\n%s", number-1, len(trace.Steps), drawn)
		}
		if cuts := strings.Contains(drawn, " … → "); cuts == full {
			t.Errorf("commands are cut: %t; want that where the diagram is not full:\n%s", cuts, drawn)
		}
	}
}

// In Chinese the words of the drawing are Chinese, and the columns are aligned: a Chinese character takes two.
func TestSequenceAlignsChinese(t *testing.T) {
	trace := traceOnNodes()
	trace.Language = language.Chinese
	for i := range trace.Steps {
		trace.Steps[i].Says = strings.Repeat("节点清空重启，", 20)
	}
	trace.Steps[3].Kind = KindLostReply
	drawn := trace.EachStep(true)
	for line := range strings.Lines(drawn) {
		if wide := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); wide > maxWidth {
			t.Errorf("%d columns: %s", wide, line)
		}
	}
	for _, want := range []string{"途中丢失", "没有发出", "节点 1：宕机", "节点 2：B（卡住）", "；库存：100；时刻 0s]", "节点 2：没有锁"} {
		if !strings.Contains(drawn, want) {
			t.Errorf("%s is not there:\n%s", want, drawn)
		}
	}
	for _, english := range []string{"lost", "never", "node ", "stock:", "lock", "down", "hangs"} {
		if strings.Contains(drawn, english) {
			t.Errorf("%q is there:\n%s", english, drawn)
		}
	}
	folded := tracePolling(40)
	folded.Language = language.Chinese
	for drawn, want := range map[string]string{
		folded.Sequence(): "第 3–81 步：800ms 后，轮询 39 次，没有变化", folded.Mermaid(): "第 3–81 步：800ms 后，轮询 39 次，没有变化", trace.Legend(): "节点卡住",
	} {
		if !strings.Contains(drawn, want) {
			t.Errorf("%s is not there:\n%s", want, drawn)
		}
	}
	if !strings.Contains(folded.Sequence(), "[锁：A，还有 10s]") || !strings.Contains(folded.Sequence(), "[没有锁]") {
		t.Errorf("the holder is not there:\n%s", folded.Sequence())
	}
}

func TestLegendNamesLockOnlyIfThereIsOne(t *testing.T) {
	for name, trace := range map[string]Trace{
		"no lock": {Steps: []Step{{Stock: "100"}}}, "a lock": {Steps: []Step{{}, {Lock: "A"}, {}}},
		"a lock on nodes": {Nodes: 3, Steps: []Step{{}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, in := range []language.Language{language.English, language.Chinese} {
				trace.Language = in
				legend := trace.Legend()
				if got := strings.Contains(legend, "lock") || strings.Contains(legend, "锁"); got != (name != "no lock") {
					t.Errorf("the legend is %q", legend)
				}
			}
		})
	}
}
