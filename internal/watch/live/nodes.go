package live

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"lockstep/internal/dao"
	"lockstep/internal/shop/api"
	"lockstep/internal/watch/witness"
)

var (
	errNodeDo     = errors.New(`want {"do":"stop"}, {"do":"start"}, {"do":"hang"}, {"do":"resume"} or {"do":"empty"}`)
	errNoSuchNode = errors.New("there is no node of that number; GET /nodes lists them")
)

// Nodes stops, hangs and empties the embedded masters of Redlock.
type Nodes struct {
	Nodes dao.Nodes
	Note  func(witness.Event)
}

// NodeAnswer is one line of GET /nodes.
type NodeAnswer struct {
	Node    int           `json:"node"` // from 1 on
	Address string        `json:"address"`
	State   dao.NodeState `json:"state"`
}

// Handler serves GET /nodes and POST /nodes/{node}. Requests have passed the guard.
func (n *Nodes) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /nodes", n.list)
	mux.HandleFunc("POST /nodes/{node}", n.do)
	mux.HandleFunc("/", nothing)
	return mux
}

func (n *Nodes) list(w http.ResponseWriter, _ *http.Request) {
	answers := []NodeAnswer{}
	for i, node := range n.Nodes {
		answers = append(answers, NodeAnswer{Node: i + 1, Address: node.Addr, State: node.State()})
	}
	api.Write(w, http.StatusOK, answers)
}

func (n *Nodes) do(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.PathValue("node"))
	if err != nil || number < 1 || number > len(n.Nodes) {
		api.WriteError(w, http.StatusNotFound, "no_such_node", fmt.Errorf("%.80q: %w", r.PathValue("node"), errNoSuchNode))
		return
	}
	var want struct {
		Do string `json:"do"`
	}
	if err := api.Read(r, &want); err != nil {
		api.WriteError(w, http.StatusBadRequest, "bad_request", fmt.Errorf("bad request: %w; %w", err, errNodeDo))
		return
	}
	err = n.Nodes[number-1].Fault(want.Do)
	switch {
	case errors.Is(err, dao.ErrNodeDo):
		api.WriteError(w, http.StatusBadRequest, "bad_request", fmt.Errorf("bad request: %.80q; %w", want.Do, errNodeDo))
		return
	case err != nil:
		api.WriteError(w, http.StatusInternalServerError, "internal", err)
		return
	case want.Do == "empty":
		now := time.Now()
		n.Note(witness.Event{Kind: witness.KindEmptied, Node: number, Nodes: len(n.Nodes), Sent: now, Replied: now})
	}
	n.list(w, r)
}
