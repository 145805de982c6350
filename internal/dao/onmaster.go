package dao

import (
	"context"

	"github.com/redis/go-redis/v9"

	"lockstep/util/lua"
)

// OnMaster reads in a transaction that fails on a server that is not a master: what a replica holds may be long out of date, or never have
// been so. Its error is that of the first command that failed. Not all who may read and write may ask for a server's ROLE, so a script
// tries to change a key in vain.
func OnMaster(ctx context.Context, client redis.Cmdable, key string, read func(redis.Pipeliner)) error {
	_, err := client.TxPipelined(ctx, func(tx redis.Pipeliner) error {
		tx.Eval(ctx, lua.OnMaster, []string{key})
		read(tx)
		return nil
	})
	return err
}
