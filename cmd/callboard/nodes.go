package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/callboard/callboard/cmd/callboard/doctor"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/persistence/lease/etcd"
	"github.com/callboard/callboard/persistence/lease/redis"
)

// about adds to a node what the others, and who looks after them, want to know
// of it.
func about(n lease.Node, cfg *configs.Config) lease.Node {
	n.Version, n.Since, n.Lease, n.Shards = version, time.Now().UnixMilli(), cfg.Lease.Milliseconds(), cfg.Shards
	return n
}

// whoLives asks the store of leases for the nodes that live, without being one.
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
	if cfg.RedisURL.Reveal() == "" && cfg.LeaseURL == "" {
		return
	}
	v.Nodes = func(ctx context.Context) ([]doctor.Node, error) {
		nodes, err := whoLives(ctx, cfg)
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
func divided(ctx context.Context, cfg *configs.Config, log *slog.Logger, driver persistence.Driver) (err error) {
	if driver == nil {
		if driver, err = openDriver(ctx, cfg, log); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, driver.Close()) }()
	}
	have, err := persistence.Shards(ctx, driver)
	if err != nil || have == 0 || have == cfg.Shards {
		return err
	}
	nodes, err := whoLives(ctx, cfg)
	if err != nil {
		return fmt.Errorf("redis_url: who has the work cannot be asked: %w", err)
	}
	if len(nodes) > 0 {
		return fmt.Errorf("shards = %d: the store is divided into %d, and %d nodes live on it, among them %s: the number changes only while none does", cfg.Shards, have, len(nodes), nodes[0].Addr)
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

// leases is the engine that the settings name.
func leases(cfg *configs.Config, o lease.Options) (*lease.Beat, error) {
	if cfg.LeaseURL != "" {
		return etcd.New(cfg.LeaseURL, etcd.Options{Options: o})
	}
	return redis.New(cfg.RedisURL.Reveal(), redis.Options{Options: o})
}

// nobodyElse is an error while nodes of several live on the store: whoever takes
// it for itself alone would take the work from them.
func nobodyElse(ctx context.Context, cfg *configs.Config) error {
	if cfg.RedisURL.Reveal() == "" && cfg.LeaseURL == "" {
		return nil
	}
	look, err := leases(cfg, lease.Options{Lease: cfg.Lease})
	if err != nil {
		return err
	}
	bound, cancel := context.WithTimeout(ctx, goodbyeLimit)
	defer cancel()
	nodes, err := look.Look(bound)
	if err = errors.Join(err, look.Leave(bound)); err != nil {
		return fmt.Errorf("redis_url: who has the work cannot be asked: %w", err)
	}
	if len(nodes) > 0 {
		return fmt.Errorf("%d nodes live on this store, among them %s at %s: run commands on the node that has the work, and set node_addr to be one of them", len(nodes), nodes[0].ID, nodes[0].Addr)
	}
	return nil
}
