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

// embeddedNodes is how many masters an embedded Redis brings with it for Redlock.
const embeddedNodeCount = 5

// Node is one of several masters that know nothing of each other.
type Node struct {
	redis.UniversalClient
	Addr string // as Address.String has it

	embedded *embedded
	faults   *nodeFaults        // of an embedded one
	config   redisclient.Config // of one that is not embedded
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

// openNodes opens those at addrs by clients of this configuration, and sees that a majority answers, and that they are different servers.
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
				id := serverInfo(ctx, node, "run_id") // the name that a server gave itself when it started
				mu.Lock()
				defer mu.Unlock()
				ids[id] = append(ids[id], text)
			}
		})
	}
	pending.Wait()
	delete(ids, "") // it was not told
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		if names := ids[id]; len(names) > 1 {
			slices.Sort(names)
			return nil, errors.Join(fmt.Errorf("redis.redlock_addrs: %s are one server, and Redlock needs independent masters: name each once",
				strings.Join(names, ", ")), nodes.close())
		}
	}
	failures = slices.DeleteFunc(failures, func(err error) bool { return err == nil })
	if len(failures) > 0 && len(failures) >= (len(nodes)+1)/2 {
		return nil, errors.Join(
			fmt.Errorf("redis.redlock_addrs: %d of %d are of no use, and Redlock needs most of them: %w", len(failures), len(nodes), failures[0]),
			nodes.close())
	}
	return nodes, nil
}

// serverInfo returns what a server says of itself in a field of INFO; "" if it does not tell.
func serverInfo(ctx context.Context, client redis.Cmdable, field string) string {
	info, _ := client.Info(ctx, "server").Result() // many a host's Redis refuses it
	for line := range strings.Lines(info) {
		if value, found := strings.CutPrefix(line, field+":"); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// embedNodes starts masters of our own: on the ports that follow the embedded Redis's, where those are free.
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
		node := Node{UniversalClient: newClient(embeddedConfig(m), new(masterTracker)), Addr: m.Addr, embedded: m, faults: &nodeFaults{state: NodeUp}}
		node.faults.attach(m.Server())
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
			node.shutDown()
			node.faults.mu.Unlock()
		}
	}
	return errors.Join(errs...)
}

// String names them for people.
func (n Nodes) String() string { return strings.Join(n.Addrs(), ", ") }
