// Package store opens the records of a service, in the embedded store or in Redis, for
// one process or for one shard.
package store

import (
	"context"
	"log/slog"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/cmd/callboard/blobstore"
	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/service/keys"
)

// Store is the opened store with what else needs the master key.
type Store struct {
	Driver       persistence.Driver
	Records      *persistence.Store
	Keys         *keys.Keyring
	DataFolder   string // the folder
	BlobLocation string // where recordings lie instead, for people; empty: in the folder
	Version      string // of this program
	unlock       func()
}

// Options say how a store is opened.
type Options struct {
	Config  *configs.Config
	Version string // of this program
	Log     *slog.Logger
	Refused func(error) // called when another process took the store meanwhile; nil: nothing is called
}

// Open locks the data folder and opens the store for the only process that
// uses it.
func Open(ctx context.Context, o Options) (*Store, error) {
	unlock, err := datafolder.Lock(o.Config.Data)
	if err != nil {
		return nil, err
	}
	master, err := datafolder.ReadMasterKey(o.Config, o.Log)
	if err != nil {
		unlock()
		return nil, err
	}
	leave, err := joinSingle(ctx, o)
	if err != nil {
		unlock()
		return nil, err
	}
	driver, err := OpenDriver(ctx, o)
	if err != nil {
		leave()
		unlock()
		return nil, err
	}
	v, err := OpenShard(ctx, o, driver, Owner{Master: master, Token: "1|" + mailbox.NewID("node"), Shard: allShards})
	if err != nil {
		_ = driver.Close()
		leave()
		unlock()
		return nil, err
	}
	v.unlock = func() {
		_ = driver.Close()
		leave()
		unlock()
	}
	return v, nil
}

// allShards stands for all shards.
const allShards = -1

// Owner is the process that a shard is opened for.
type Owner struct {
	Master []byte // the master key
	Token  string // of the lease; each commit carries it
	Shard  int    // whole: the process has all shards
}

// OpenShard opens the store of a shard.
func OpenShard(ctx context.Context, o Options, driver persistence.Driver, by Owner) (*Store, error) {
	part := persistence.Shard{}
	if by.Shard != allShards {
		part = persistence.Shard{Number: by.Shard, Count: o.Config.Node.Shards}
	}
	records, err := persistence.OpenShard(ctx, driver, persistence.Owner{Master: by.Master, Token: by.Token, Shard: part, Version: o.Version})
	if err != nil {
		return nil, err
	}
	return &Store{Driver: driver, Records: records, Keys: keys.NewKeyring(records, records.RootKey()), DataFolder: o.Config.Data, BlobLocation: blobstore.Location(o.Config), Version: o.Version}, nil
}

// Close closes the driver, ends the lease and unlocks the data folder. A store that
// openStore opened leaves them to its caller.
func (v *Store) Close() {
	if v.unlock != nil {
		v.unlock()
	}
}
