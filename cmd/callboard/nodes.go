package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/cmd/callboard/doctor"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/persistence/lease/redis"
)

// about adds to a node what the others, and who looks after them, want to know
// of it.
func about(n lease.Node, cfg *configs.Config) lease.Node {
	n.Version, n.Since, n.Lease, n.Shards = version, time.Now().UnixMilli(), cfg.Lease.Milliseconds(), cfg.Shards
	return n
}

// whoLives asks the store of leases for the processes that live, without being one.
func whoLives(ctx context.Context, cfg *configs.Config) ([]lease.Node, error) {
	look, err := leases(cfg, lease.Options{Lease: cfg.Lease})
	if err != nil {
		return nil, err
	}
	bound, cancel := context.WithTimeout(ctx, goodbyeLimit)
	defer cancel()
	nodes, err := look.Look(bound)
	return nodes, errors.Join(err, look.Leave(bound))
}

// among lets the doctor see the other nodes, where there may be some.
func among(v *doctor.Visit, cfg *configs.Config) {
	if cfg.RedisURL.Reveal() == "" {
		return
	}
	v.Nodes = func(ctx context.Context) ([]doctor.Node, error) {
		nodes, err := whoLives(ctx, cfg)
		nodes = slices.DeleteFunc(nodes, func(n lease.Node) bool { return n.Single })
		out := make([]doctor.Node, len(nodes))
		for i, n := range nodes {
			out[i] = doctor.Node{ID: n.ID, Addr: n.Addr, SIP: n.SIP, Version: n.Version, Lease: time.Duration(n.Lease) * time.Millisecond, Shards: n.Shards}
		}
		return out, err
	}
	v.Stranger = forward.ErrStranger
	v.Ask = func(ctx context.Context, addr string) (time.Time, error) {
		master, err := nodeKey(cfg)
		if err != nil {
			return time.Time{}, err
		}
		return master.Ask(ctx, addr)
	}
}

// nodeKey is what the nodes of the install know each other by.
func nodeKey(cfg *configs.Config) (*forward.Credential, error) {
	if cfg.MasterKeyFile == "" {
		return nil, errors.New("master_key_file is not set: the nodes know each other by the master key")
	}
	master, err := masterKey(cfg, nil) // no key is made: a file is named
	if err != nil {
		return nil, err
	}
	return forward.NewCredential(derive(master, "callboard nodes"))
}

// divided sees to it that the store is divided into as many shards as the
// settings say. That changes only while no node lives.
func divided(ctx context.Context, cfg *configs.Config, log *slog.Logger, driver persistence.Driver) error {
	have, err := persistence.Shards(ctx, driver)
	if err != nil || have == 0 || have == cfg.Shards {
		return err
	}
	nodes, err := whoLives(ctx, cfg)
	if err != nil {
		return fmt.Errorf("redis_url: who has the work cannot be asked: %w", err)
	}
	if len(nodes) > 0 {
		return lease.DisagreeOnShards(cfg.Shards, have, nodes)
	}
	if err = persistence.Divide(ctx, driver, cfg.Shards); err == nil {
		log.Warn("the work is divided anew", slog.Int("shards", cfg.Shards), slog.Int("before", have))
	}
	return err
}

// heirs says whether another node lives that takes up what this one gives away.
func (m *member) heirs() bool {
	return slices.ContainsFunc(m.engine.Nodes(), func(n lease.Node) bool { return n.ID != m.self.ID && !n.Draining })
}

// leases are kept in the Redis that holds the data.
func leases(cfg *configs.Config, o lease.Options) (*lease.Beat, error) {
	return redis.New(cfg.RedisURL.Reveal(), redis.Options{Options: o})
}

// processFile in the data folder has the ID of the process that uses it without
// node_addr. The process has the folder's lock, so a lease of this ID is its own,
// or that of a process before it which has ended.
const processFile = "process.id"

// joinSingle takes the lease of a process without node_addr, which no other
// process on the same store may have beside it. refused is called where the lease
// ended meanwhile and cannot be had again. The embedded store has one process by
// the lock of its folder.
func joinSingle(ctx context.Context, cfg *configs.Config, log *slog.Logger, refused func(error)) (leave func(), err error) {
	if cfg.RedisURL.Reveal() == "" {
		return func() {}, nil
	}
	id, err := processID(cfg.Data)
	if err != nil {
		return nil, err
	}
	engine, err := leases(cfg, lease.Options{Lease: cfg.Lease, Refused: refused, Logger: log})
	if err != nil {
		return nil, err
	}
	leave = func() {
		bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeLimit)
		defer cancel()
		_ = engine.Leave(bound) // or the lease ends by itself
	}
	self := about(lease.Node{ID: id, Single: true}, cfg)
	if err = joinLease(ctx, cfg, log, func(ctx context.Context) error { return engine.Join(ctx, self, func() {}) }); err != nil {
		leave()
		return nil, err
	}
	return leave, nil
}

// processID reads the ID in processFile, which is made where there is none.
func processID(data string) (string, error) {
	path := filepath.Join(data, processFile)
	text, err := os.ReadFile(path) //nolint:gosec // the operator's own folder
	id := strings.TrimSpace(string(text))
	if err == nil && id != "" {
		return id, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	id = mailbox.NewID("process")
	return id, writeSecret(path, id+"\n")
}

// joinLease takes a lease. A store that gives no proper answer at that moment is
// asked again; for one that is away startWait waits.
func joinLease(ctx context.Context, cfg *configs.Config, log *slog.Logger, join func(context.Context) error) error {
	for try := 1; ; try++ {
		err := join(ctx)
		refused := new(lease.ParameterMismatchError)
		switch {
		case err == nil, errors.As(err, &refused):
			return err
		case try == joinTries, errors.Is(err, lease.ErrMalformed), isAway(err):
			return fmt.Errorf("the store of leases: %w", err)
		}
		log.Warn("the store of leases does not answer: trying again", slog.Any("error", err))
		pause := time.NewTimer(cfg.Lease / 2)
		select {
		case <-ctx.Done():
			pause.Stop()
			return err
		case <-pause.C:
		}
	}
}
