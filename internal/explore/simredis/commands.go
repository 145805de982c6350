package simredis

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/proto"
	resp "github.com/alicebob/miniredis/v2/server"

	"lockstep/internal/dao"
	"lockstep/internal/service/history"
)

// parse gives the commands in what was sent at once.
func parse(sent string) (all [][]string, _ error) {
	for r := bufio.NewReader(strings.NewReader(sent)); ; {
		message, err := proto.Read(r)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("a command that is no RESP: %w", err)
		}
		args, err := proto.ReadStrings(message)
		if err != nil {
			return nil, fmt.Errorf("a command that is no list of strings: %w", err)
		}
		all = append(all, args)
	}
}

// remember takes down a script that the server has learnt.
func (m *Memory) remember(args []string) {
	if len(args) < 2 {
		return
	}
	script := args[1]
	switch name := strings.ToUpper(args[0]); {
	case name == "SCRIPT" && strings.EqualFold(args[1], "FLUSH"):
		m.cached = nil
		return
	case name == "SCRIPT" && len(args) > 2 && strings.EqualFold(args[1], "LOAD"):
		script = args[2]
	case name != "EVAL":
		return
	}
	if !slices.Contains(m.cached, script) {
		m.cached = append(slices.Clone(m.cached), script)
		slices.Sort(m.cached)
	}
}

// learn makes the server have these scripts loaded, and no others.
func (m *Memory) learn(scripts []string) {
	if slices.Equal(m.cached, scripts) {
		return
	}
	peer := resp.NewPeer(bufio.NewWriter(io.Discard))
	m.server.Server().Dispatch(peer, []string{"SCRIPT", "FLUSH"})
	for _, script := range scripts {
		m.server.Server().Dispatch(peer, []string{"SCRIPT", "LOAD", script})
	}
	m.cached = scripts
}

// takeLedger reads the orders that were just written, and empties the ledger.
func (m *Memory) takeLedger() (orders []history.Order, _ error) {
	m.server.Del(dao.RunKey)
	newest, _ := dao.OrdersKeys(m.run)
	if !m.server.Exists(newest) {
		return nil, nil
	}
	ids, err := m.server.HKeys(newest)
	if err != nil {
		return nil, fmt.Errorf("the ledger %s: %w", newest, err)
	}
	for _, id := range ids {
		var order history.Order
		if err := json.Unmarshal([]byte(m.server.HGet(newest, id)), &order); err != nil {
			return nil, fmt.Errorf("the ledger %s: %w", newest, err)
		}
		orders = append(orders, order)
	}
	m.server.Del(newest)
	return orders, nil
}
