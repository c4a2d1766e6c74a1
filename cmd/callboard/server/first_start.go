package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/logging"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/workspaces"
)

// createFirstWorkspace creates the first workspace and its keys in an empty store.
func (t *shard) createFirstWorkspace(ctx context.Context) (err error) {
	t.firstStart, err = workspaces.Bootstrap{
		Store: t.store.Records, Keys: t.store.Keys, Plan: domain.Plan(t.cfg.DefaultPlan), Limits: defaultLimits(t.cfg), TestCarrier: t.cfg.Simulator, Owns: t.ownsWorkspace(),
	}.Run(ctx)
	if err != nil || t.firstStart == nil {
		return err
	}
	return writeFirstKeys(t.cfg.Data, t.firstStart)
}

// defaultLimits returns the limits of the first workspace: those of the plan, changed by the settings.
func defaultLimits(cfg *configs.Config) domain.Limits {
	limits, fixed := domain.PlanLimits(domain.Plan(cfg.DefaultPlan))
	if !fixed {
		limits = domain.DefaultEnterpriseLimits()
	}
	for _, l := range []struct{ set, to *int }{
		{&cfg.DefaultLimits.RequestsPerMinute, &limits.RequestsPerMinute},
		{&cfg.DefaultLimits.ConcurrentInbound, &limits.ConcurrentInbound},
		{&cfg.DefaultLimits.ConcurrentOutbound, &limits.ConcurrentOutbound},
		{&cfg.DefaultLimits.CallsPerMinute, &limits.CallsPerMinute},
	} {
		if *l.set > 0 {
			*l.to = *l.set
		}
	}
	return limits
}

// writeFirstKeys writes the API keys of the first start into files that only their owner can read.
func writeFirstKeys(data string, f *workspaces.FirstStart) error {
	return errors.Join(
		datafolder.WriteSecretFile(filepath.Join(data, "admin.key"), f.AdminKey+"\n"),
		datafolder.WriteSecretFile(filepath.Join(data, "test.key"), f.TestKey+"\n"),
	)
}

// printFirstKey prints the operator's API key of the first start if standard output is a terminal.
func (t *shard) printFirstKey() {
	if t.firstStart == nil {
		return
	}
	path := filepath.Join(t.cfg.Data, "admin.key")
	if logging.StdoutIsTerminal() {
		fmt.Printf("\n First start. The operator's API key, shown only once and stored in %s:\n\n %s\n\n", path, t.firstStart.AdminKey)
		return
	}
	t.log.Info("first start: the operator's API key is in a file", slog.String("path", path))
}
