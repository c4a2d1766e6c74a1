package node

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dialer"
	"github.com/callboard/callboard/domain/load"
)

// Drain refuses new calls while an operator has drained the node or while the node is stopping. Live calls
// continue. All shards of a process share the drain that an operator sets.
type Drain struct {
	sip      callDrainer                    // nil: the node has no SIP
	shared   bool                           // other shards use the same user agent
	onChange func()                         // called after the drain has begun or ended
	current  *atomic.Pointer[load.DrainNow] // drain of the process; nil inside: calls may begin
	log      *slog.Logger

	mu       sync.Mutex  // held while the state changes
	stopping atomic.Bool // the node is stopping
}

// callDrainer is the SIP user agent. Drain makes it refuse or accept inbound calls.
type callDrainer interface{ Drain(on bool) }

// Start drains the node until End is called or the process ends. If the node is already drained, Start keeps the time
// and author of the first drain.
func (d *Drain) Start(at time.Time, by domain.Actor) load.DrainNow {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now := d.current.Load(); now != nil {
		return *now
	}
	now := &load.DrainNow{On: true, Since: &at, By: &by}
	d.current.Store(now)
	if d.sip != nil {
		d.sip.Drain(true)
	}
	d.onChange()
	d.log.Warn("an operator has drained the node", slog.String("actor", by.ID))
	return *now
}

// End ends the drain, so that calls may begin again. Errors: unavailable while the node is stopping.
func (d *Drain) End(by domain.Actor) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.isStopping() {
		return domain.Errorf(domain.CodeUnavailable, "the service is stopping and accepts no calls").With("reason", dialer.ReasonDraining)
	}
	if d.current.Swap(nil) == nil {
		return nil
	}
	if d.sip != nil {
		d.sip.Drain(false)
	}
	d.onChange()
	d.log.Warn("an operator has ended the drain of the node", slog.String("actor", by.ID))
	return nil
}

// stop refuses new calls because the node is stopping. If other shards share the user agent, the user agent
// continues to accept calls for them.
func (d *Drain) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopping.Store(true)
	if d.sip != nil && !d.shared {
		d.sip.Drain(true)
	}
}

// Current returns the drain that an operator has set. It is the zero value if the node is not drained.
func (d *Drain) Current() load.DrainNow {
	if now := d.current.Load(); now != nil {
		return *now
	}
	return load.DrainNow{}
}

// isDrained reports whether an operator has drained the node. It is false while the node only stops.
func (d *Drain) isDrained() bool { return d.current.Load() != nil }

// isStopping reports whether the node is stopping.
func (d *Drain) isStopping() bool { return d.stopping.Load() }

// reason returns an error that says when the node was drained. It returns nil if the node is not drained.
func (d *Drain) reason() error {
	if now := d.current.Load(); now != nil && now.Since != nil {
		return fmt.Errorf("an operator has drained the node at %s", now.Since.Format(time.RFC3339))
	}
	return nil
}
