package live

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"lockstep/internal/api"
	"lockstep/internal/api/answer"
	"lockstep/internal/api/route"
	"lockstep/internal/dao"
	"lockstep/internal/lock"
	"lockstep/internal/witness"
)

// wantedActions describes the allowed bodies of a POST, for errors.
const wantedActions = `want {"do":"stop"}, {"do":"start"}, {"do":"hang"}, {"do":"resume"} or {"do":"empty"}`

// errNoSuchNode is returned for a master number that does not exist.
var errNoSuchNode = lock.WithCode("no_such_node", "there is no node of that number; GET /nodes lists them")

// Nodes serves the routes that stop, hang and empty the embedded masters of Redlock.
type Nodes struct {
	Nodes dao.Nodes           // masters
	Note  func(witness.Event) // records an event that no replica can record itself
}

// NodeAnswer is one element of the answer to GET /nodes.
type NodeAnswer struct {
	Node    int           `json:"node"` // 1-based number of the master
	Address string        `json:"address"`
	State   dao.NodeState `json:"state"`
}

// Routes returns the routes of the masters. The routes of a nil *Nodes answer that this server has no masters.
func (n *Nodes) Routes() []route.Row {
	rows := []route.Row{
		route.On("GET", "/nodes", route.Reader, route.Front, n.list),
		route.On("POST", "/nodes/{node}", route.Administrator, route.Front, n.do),
	}
	if n == nil {
		return route.WithoutHandlers(rows)
	}
	return rows
}

// list handles GET /nodes.
func (n *Nodes) list(w http.ResponseWriter, _ *http.Request) error {
	answers := []NodeAnswer{}
	for i, node := range n.Nodes {
		answers = append(answers, NodeAnswer{Node: i + 1, Address: node.Addr, State: node.State()})
	}
	answer.Write(w, http.StatusOK, answers)
	return nil
}

// do handles POST /nodes/{node}: it applies a fault to a master, and answers with the list.
func (n *Nodes) do(w http.ResponseWriter, r *http.Request) error {
	number, err := strconv.Atoi(r.PathValue("node"))
	if err != nil || number < 1 || number > len(n.Nodes) {
		return fmt.Errorf("%.80q: %w", r.PathValue("node"), errNoSuchNode)
	}
	var want struct {
		Do string `json:"do"`
	}
	if err := api.Read(r, &want); err != nil {
		return api.BadRequest(err, wantedActions)
	}
	err = n.Nodes[number-1].Fault(want.Do)
	switch {
	case errors.Is(err, dao.ErrUnknownNodeFault):
		return api.BadRequest(fmt.Errorf("%.80q", want.Do), wantedActions)
	case err != nil:
		return err
	case want.Do == "empty":
		now := time.Now()
		n.Note(witness.Event{Kind: witness.KindEmptied, Node: number, Nodes: len(n.Nodes), Sent: now, Replied: now})
	}
	return n.list(w, r)
}
