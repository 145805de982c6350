package lab

import (
	"errors"

	"lockstep/internal/stage/redisproxy"
)

// openProxies puts proxies before some replicas: the first to the Redis with the stock, the others to the nodes. What was opened is on the
// stage, also if one fails.
func (s *Stage) openProxies(shop Settings) error {
	last := 0
	if shop.NodesProxied {
		last = len(s.redis.nodes)
	}
	for _, name := range shop.Proxied {
		for node := range last + 1 {
			proxy, err := redisproxy.Open(s.server(node).Addr())
			if err != nil {
				return err
			}
			s.proxies[name] = append(s.proxies[name], proxy)
		}
	}
	return nil
}

// server gives a node, counted from 1; 0 is the Redis with the stock.
func (s *Stage) server(node int) master {
	if node == 0 {
		return s.redis.master
	}
	return s.redis.nodes[node-1]
}

// addr gives the address at which a replica reaches a node.
func (s *Stage) addr(replica string, node int) string {
	if proxies := s.proxies[replica]; node < len(proxies) {
		return proxies[node].Addr()
	}
	return s.server(node).Addr()
}

// toStock gives the proxies to the Redis with the stock.
func (s *Stage) toStock() (all []*redisproxy.Proxy) {
	for _, proxies := range s.proxies {
		all = append(all, proxies[0])
	}
	return all
}

func (s *Stage) closeProxies() error {
	var errs []error
	for _, proxies := range s.proxies {
		for _, proxy := range proxies {
			errs = append(errs, proxy.Close())
		}
	}
	return errors.Join(errs...)
}
