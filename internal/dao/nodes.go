package dao

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/redis/go-redis/v9"

	"lockstep/internal/dao/redisclient"
)

// embeddedNodeCount is the number of masters for Redlock started beside an embedded Redis: five, as in the documentation of Redis.
const embeddedNodeCount = 5

// Node is one of several independent masters for Redlock, with a client of it.
type Node struct {
	redis.UniversalClient
	Addr string // address, in the format of Address.String

	embedded *embedded          // nil: the master is another process
	faults   *nodeFaults        // fault state of an embedded master; otherwise nil
	config   redisclient.Config // client configuration of a master that is not embedded
}

// Nodes is the set of all masters for Redlock.
type Nodes []Node

// Clients returns one client per node.
func (n Nodes) Clients() []redis.Cmdable {
	var clients []redis.Cmdable
	for _, node := range n {
		clients = append(clients, node)
	}
	return clients
}

// Addrs returns the addresses of all nodes.
func (n Nodes) Addrs() []string {
	var addrs []string
	for _, node := range n {
		addrs = append(addrs, node.Addr)
	}
	return addrs
}

// openNodes connects to the masters at addrs. It fails unless a majority answers and all that answer are different servers.
func openNodes(ctx context.Context, addrs []string, client redisclient.Config) (nodes Nodes, err error) {
	failures, ids := make([]error, len(addrs)), map[string][]string{}
	var pending sync.WaitGroup
	var mu sync.Mutex
	for i, text := range addrs {
		addr, err := ParseAddress(text)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("redis.redlock_addrs: %w", err), nodes.close())
		}
		config := client
		config.Addrs, config.DB = []string{addr.Dial}, addr.DB
		node := Node{UniversalClient: newClient(config, new(masterTracker)), Addr: text, config: config}
		nodes = append(nodes, node)
		pending.Go(func() {
			failures[i] = endpoint{"redis.redlock_addrs", text, config}.explain(ctx, checkServer(ctx, node, config))
			if failures[i] == nil {
				id := serverInfo(ctx, node, "run_id") // random id chosen by the server when it started
				mu.Lock()
				defer mu.Unlock()
				ids[id] = append(ids[id], text)
			}
		})
	}
	pending.Wait()
	delete(ids, "") // These servers did not disclose their id.
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if names := ids[id]; len(names) > 1 {
			slices.Sort(names)
			return nil, errors.Join(fmt.Errorf("redis.redlock_addrs: %s are one server, and Redlock needs independent masters: list each once",
				strings.Join(names, ", ")), nodes.close())
		}
	}
	failures = slices.DeleteFunc(failures, func(err error) bool { return err == nil })
	if len(failures) > 0 && len(failures) >= (len(nodes)+1)/2 {
		return nil, errors.Join(
			fmt.Errorf("redis.redlock_addrs: %d of %d are unusable, and Redlock needs a majority: %w", len(failures), len(nodes), failures[0]),
			nodes.close())
	}
	return nodes, nil
}

// serverInfo returns a field of the server section of INFO; "" if the server does not disclose it.
func serverInfo(ctx context.Context, client redis.Cmdable, field string) string {
	info, _ := client.Info(ctx, "server").Result() // Many hosted Redis services refuse INFO.
	for line := range strings.Lines(info) {
		if value, found := strings.CutPrefix(line, field+":"); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// startEmbeddedNodes starts masters in this process, on the ports that follow the port of near. In place of a port in use it takes a free
// one.
func startEmbeddedNodes(near *embedded, clientLimit *clientLimit) (Nodes, error) {
	host, text, err := net.SplitHostPort(near.Addr)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, err
	}
	var nodes Nodes
	for i := range embeddedNodeCount {
		m, err := startEmbedded(net.JoinHostPort(host, strconv.Itoa(port+1+i)), clientLimit)
		if err != nil {
			m, err = startEmbedded(net.JoinHostPort(host, "0"), clientLimit)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("redis.embedded_addr: cannot listen beside %s, for Redlock: %w", near.Addr, err), nodes.close())
		}
		client := newClient(embeddedConfig(m), new(masterTracker))
		node := Node{UniversalClient: client, Addr: m.Addr, embedded: m, faults: &nodeFaults{state: NodeUp}}
		node.faults.attach(m.Server())
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// close closes the clients of all nodes, and the embedded masters.
func (n Nodes) close() error {
	var errs []error
	for _, node := range n {
		errs = append(errs, node.Close())
		if node.embedded != nil {
			node.faults.mu.Lock()
			node.shutDown()
			node.faults.mu.Unlock()
		}
	}
	return errors.Join(errs...)
}

// String lists the addresses for messages.
func (n Nodes) String() string { return strings.Join(n.Addrs(), ", ") }
