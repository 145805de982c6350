package dao

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
)

// embeddedNodes is how many masters an embedded Redis brings with it for Redlock.
const embeddedNodes = 5

// Node is one of several masters that know nothing of each other.
type Node struct {
	redis.UniversalClient
	Addr string

	embedded *miniredis.Miniredis
	faults   *faults // of an embedded one
}

// Nodes are all of them.
type Nodes []Node

// Clients returns a client of each.
func (n Nodes) Clients() []redis.Cmdable {
	var clients []redis.Cmdable
	for _, node := range n {
		clients = append(clients, node)
	}
	return clients
}

// Addrs returns the address of each.
func (n Nodes) Addrs() []string {
	var addrs []string
	for _, node := range n {
		addrs = append(addrs, node.Addr)
	}
	return addrs
}

// openNodes opens those at addrs by clients of this configuration, and sees that a majority answers.
func openNodes(ctx context.Context, addrs []string, client redisclient.Config) (Nodes, error) {
	var nodes Nodes
	var down []error
	for _, addr := range addrs {
		client.Addrs = []string{addr}
		node := Node{UniversalClient: newClient(client), Addr: addr}
		nodes = append(nodes, node)
		if err := node.Ping(ctx).Err(); err != nil {
			down = append(down, fmt.Errorf("%s: %w", addr, err))
		}
	}
	if len(down) > 0 && len(down) >= (len(nodes)+1)/2 {
		return nil, errors.Join(
			fmt.Errorf("redis.redlock_addrs: %d of %d do not answer, and Redlock needs most of them: %w", len(down), len(nodes), down[0]),
			nodes.close())
	}
	return nodes, nil
}

// embedNodes starts masters of our own: on the ports that follow the embedded Redis's, where those are free.
func embedNodes(beside *miniredis.Miniredis) (Nodes, error) {
	port, err := strconv.Atoi(beside.Port())
	if err != nil {
		return nil, err
	}
	var nodes Nodes
	for i := range embeddedNodes {
		m, err := embed(net.JoinHostPort(beside.Host(), strconv.Itoa(port+1+i)))
		if err != nil {
			m, err = embed(net.JoinHostPort(beside.Host(), "0"))
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("redis.embedded_addr: cannot listen beside %s, for Redlock: %w", beside.Addr(), err), nodes.close())
		}
		node := Node{UniversalClient: newClient(own(m)), Addr: m.Addr(), embedded: m, faults: &faults{state: NodeUp}}
		node.faults.attach(m)
		nodes = append(nodes, node)
	}
	return nodes, nil
}

func (n Nodes) close() error {
	var errs []error
	for _, node := range n {
		errs = append(errs, node.Close())
		if node.embedded != nil {
			node.faults.mu.Lock()
			node.end()
			node.faults.mu.Unlock()
		}
	}
	return errors.Join(errs...)
}

// String names them for people.
func (n Nodes) String() string { return strings.Join(n.Addrs(), ", ") }
