package server

import (
	"context"
	"log/slog"
	"time"
)

// startWatchdog notifies systemd that the process has started. Until stop is called, it sends watchdog notifications
// to systemd as long as alive returns nil in time.
func (p *Process) startWatchdog(alive func(context.Context) error) (stop func()) {
	p.ServiceManager.Ready()
	every := p.ServiceManager.WatchdogInterval()
	if every == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for silent := false; ; {
			bound, done := context.WithTimeout(ctx, every)
			err := alive(bound)
			done()
			if err == nil {
				p.ServiceManager.Watchdog()
			} else if !silent && ctx.Err() == nil {
				p.Log.Error("the health check failed: the service manager will restart the service", slog.Any("error", err))
			}
			silent = err != nil
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return cancel
}
