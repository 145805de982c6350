package lab

import (
	"errors"
	"slices"

	"lockstep/internal/stage/redisproxy"
)

// openProxies puts them before some replicas. What was opened is on the stage, also if one fails.
func (s *Stage) openProxies(shop Settings) error {
	for _, name := range shop.Proxied {
		proxy, err := redisproxy.Open(s.redis.Addr())
		if err != nil {
			return err
		}
		s.proxies[name] = proxy
		if !shop.NodesProxied {
			continue
		}
		for _, node := range s.redis.nodes {
			proxy, err := redisproxy.Open(node.Addr())
			if err != nil {
				return err
			}
			s.toNodes[name] = append(s.toNodes[name], proxy)
		}
	}
	return nil
}

// addrs are where a replica reaches Redis, and the nodes.
func (s *Stage) addrs(replica string) (redis string, nodes []string) {
	redis = s.redis.Addr()
	if proxy := s.proxies[replica]; proxy != nil {
		redis = proxy.Addr()
	}
	for _, proxy := range s.toNodes[replica] {
		nodes = append(nodes, proxy.Addr())
	}
	if nodes != nil {
		return redis, nodes
	}
	for _, node := range s.redis.nodes {
		nodes = append(nodes, node.Addr())
	}
	return redis, nodes
}

// proxiesOf are all of a replica's.
func (s *Stage) proxiesOf(replica string) []*redisproxy.Proxy {
	return append(slices.Clone(s.toNodes[replica]), s.proxies[replica])
}

func (s *Stage) closeProxies() error {
	var errs []error
	for replica := range s.proxies {
		for _, proxy := range s.proxiesOf(replica) {
			errs = append(errs, proxy.Close())
		}
	}
	return errors.Join(errs...)
}
