// Package store opens the store of a service, embedded or in Redis, for a single process or for one shard.
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

// Store is an open store and the keyring for the API keys in it.
type Store struct {
	Driver       persistence.Driver
	Records      *persistence.Store
	Keys         *keys.Keyring
	DataFolder   string // path of the data folder
	BlobLocation string // place of recordings outside the data folder, for people; empty: none
	Version      string // version of this program
	unlock       func()
}

// Options configures the opening of a store.
type Options struct {
	Config  *configs.Config
	Version string // version of this program
	Log     *slog.Logger
	Refused func(error) // called if another process takes over the store; nil: not called
}

// Open locks the data folder and opens the store for a process that is not part of a cluster.
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

// allShards is the shard number of a process that owns all shards.
const allShards = -1

// Owner is the process that opens a shard.
type Owner struct {
	Master []byte // master key
	Token  string // lease token, which each commit carries
	Shard  int    // allShards: the process owns all shards
}

// OpenShard opens the store of one shard on a driver that the caller has opened and must close.
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

// Close closes the driver, releases the lease and unlocks the data folder. After OpenShard the caller has to do
// that.
func (v *Store) Close() {
	if v.unlock != nil {
		v.unlock()
	}
}
