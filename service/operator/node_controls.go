package operator

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/load"
	"github.com/callboard/callboard/service/record"
)

// dialStop is the stop of all dialling in the installation.
type dialStop interface {
	Current() load.DiallingNow
	// Stop stores a stop with the reason and author of row. A stop that is in force stays
	// as it is.
	Stop(ctx context.Context, row *domain.DialStop) (load.DiallingNow, error)
	// Resume ends the stop. row has the author.
	Resume(ctx context.Context, row *domain.DialStop) error
}

// nodeDrain is the drain of this node.
type nodeDrain interface {
	Current() load.DrainNow
	// Start drains the node. A drained node keeps its first drain.
	Start(at time.Time, by domain.Actor) load.DrainNow
	// End lets the node take calls again. Errors: unavailable while the node is stopping.
	End(by domain.Actor) error
}

// StopDialling stops all dialling in all workspaces until ResumeDialling, also across
// restarts. Live calls go on. The first reason of a stop stays.
func (s *Service) StopDialling(ctx context.Context, p domain.Principal, reason string) (load.DiallingNow, error) {
	return s.dialStop.Stop(ctx, &domain.DialStop{Reason: reason, By: record.ActorOf(p)})
}

// ResumeDialling allows dialling again. Paused campaigns stay paused.
func (s *Service) ResumeDialling(ctx context.Context, p domain.Principal) (load.DiallingNow, error) {
	return load.DiallingNow{}, s.dialStop.Resume(ctx, &domain.DialStop{By: record.ActorOf(p)})
}

// DrainNode keeps new calls off this node, inbound and outbound, until UndrainNode or the
// end of the process. Live calls go on.
func (s *Service) DrainNode(_ context.Context, p domain.Principal) (load.DrainNow, error) {
	return s.drain.Start(record.Now(), record.ActorOf(p)), nil
}

// UndrainNode lets this node take calls again. Errors: unavailable while the node is
// stopping.
func (s *Service) UndrainNode(_ context.Context, p domain.Principal) (load.DrainNow, error) {
	return load.DrainNow{}, s.drain.End(record.ActorOf(p))
}
