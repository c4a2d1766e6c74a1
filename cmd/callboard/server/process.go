// Package server builds one process of the service from its settings, runs it alone or as a node of a cluster, and
// stops it.
package server

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/server/clockshift"
	"github.com/callboard/callboard/cmd/callboard/systemd"
	"github.com/callboard/callboard/configs"
	"github.com/callboard/callboard/domain/access"
)

// Process runs the service in this process, alone or as a node of a cluster.
type Process struct {
	Settings       *configs.Config
	Log            *slog.Logger
	Version        string
	ServiceManager *systemd.Notifier
	NewDemo        func() (Demo, error) // nil: no demo runs
	OnStopping     func()               // called when the process begins to stop; a second signal then ends it at once

	wait *startWait
}

// Demo shows the product on a service that has just started.
type Demo interface {
	// TrustedPeers returns a PEM certificate and egress rules that let the service reach the demo's webhook
	// receiver.
	TrustedPeers() (rootCA []byte, allow []access.EgressRule)
	// Run runs the demo through the API at baseURL.
	Run(ctx context.Context, baseURL string)
	Close()
}

// Run runs the service until ctx is done.
func (p *Process) Run(ctx context.Context) error {
	p.wait = &startWait{cfg: p.Settings, log: p.Log, manager: p.ServiceManager}
	clockshift.Start()
	if err := datafolder.CheckOwner(p.Settings.Data); err != nil { // before the demo writes into the folder
		return err
	}
	if p.Settings.Node.Addr.IsValid() {
		if p.NewDemo != nil {
			return errors.New("--demo needs a service without cluster: leave node_addr empty")
		}
		return p.runNode(ctx)
	}
	options := Options{Version: p.Version, wait: p.wait}
	var demo Demo
	if p.NewDemo != nil {
		var err error
		if demo, err = p.NewDemo(); err != nil {
			return err
		}
		defer demo.Close()
		options.RootCA, options.Allow = demo.TrustedPeers()
	}
	for {
		released, err := p.runAlone(ctx, options, demo)
		if !released || err != nil {
			return err
		}
		demo = nil // the demo runs once
	}
}

// runAlone runs the service without a cluster until ctx is done. It returns released = true if an operator released the
// quarantined store, after which the service must start again.
func (p *Process) runAlone(ctx context.Context, options Options, demo Demo) (released bool, err error) {
	began := time.Now()
	s, err := Start(ctx, p.Settings, p.Log, options)
	if err != nil {
		return false, p.startError(ctx, err)
	}
	p.Log.LogAttrs(ctx, slog.LevelInfo, "ready", append(p.Settings.LogAttrs(),
		slog.Duration("after", time.Since(began).Round(time.Millisecond)), slog.String("http", s.HTTPAddr.String()),
		slog.String("version", p.Version))...)
	shard := s.shards.all()[0]
	shard.printFirstKey()
	defer p.startWatchdog(shard.actors.Heartbeat)()
	if demo != nil {
		go demo.Run(ctx, s.cfg.BaseURL(s.HTTPAddr))
	}
	select {
	case <-ctx.Done():
	case <-s.released:
		s.Close()
		return true, nil
	case err = <-s.ended:
		if err == nil {
			err = errors.New("a listener ended")
		}
		s.Close()
		return false, err
	}
	p.announceStop()
	shard.drain(context.WithoutCancel(ctx))
	s.Close()
	p.Log.Info("stopped")
	return false, nil
}

// startError returns the error of a failed start. It returns nil if ctx is done, because the process then had to stop.
func (p *Process) startError(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	p.Log.Info("stopped during the start")
	return nil
}

// announceStop notifies the service manager, and logs, that the process refuses new calls and stops when live calls
// have ended.
func (p *Process) announceStop() {
	p.OnStopping()
	p.ServiceManager.Stopping()
	p.Log.Info("stopping: new calls are refused, live calls may end", slog.Duration("limit", p.Settings.DrainTimeout))
}
