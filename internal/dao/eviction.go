package dao

import "context"

// Eviction returns the policy by which Redis evicts keys when it is out of memory, such as volatile-lru; "" if it evicts none, or does not
// tell. Whatever the policy, locks that expire may go.
func (r *Redis) Eviction(ctx context.Context) (policy string) {
	said, _ := r.Store.ConfigGet(ctx, "maxmemory*").Result() // many a host's Redis refuses it
	if said["maxmemory"] == "" || said["maxmemory"] == "0" || said["maxmemory-policy"] == "noeviction" {
		return ""
	}
	return said["maxmemory-policy"]
}
