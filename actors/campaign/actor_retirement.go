package campaign

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/lifecycle"
)

// canRetire reports whether the campaign has ended and has no calls, commits or requests in progress. Its actor can then
// stop to free memory. HandleEnded answers later requests from the store.
func (a *Campaign) canRetire() bool {
	return a.rows.campaign.Status.Final() && len(a.open.attempts) == 0 && len(a.open.ends) == 0 && len(a.queue.attempts) == 0 &&
		a.commits.inFlight == nil && a.requests.isEmpty()
}

// retire stops the actor of a campaign that has ended or was deleted.
func (a *Campaign) retire(ctx actor.Context) {
	a.phase = gone
	if b := a.commits.inFlight; b != nil { // the campaign was deleted: the commit will conflict, and its result is ignored
		a.commits.inFlight = nil
		a.undoBatch(ctx, b)
		if b.operation != nil {
			a.requests.operations = append(a.requests.operations, *b.operation)
		}
	}
	a.requests.refuse(ctx, domain.Errorf(domain.CodeUnavailable, "the campaign has ended or was deleted").With("retry_after", 1))
	a.releaseAll(ctx)
	ctx.Poison(ctx.Self())
}

// HandleEnded answers Start, Pause, Resume, Cancel and GetStatus for an ended campaign without an actor.
func HandleEnded(c *domain.Campaign, p *domain.Progress, msg any) (domain.CampaignStatusObject, error) {
	if on := operationOf(msg).on; on != "" {
		if to, allowed, ok := lifecycle.NextCampaignStatus(c.Status, on, false); !ok || to != c.Status {
			return domain.CampaignStatusObject{}, invalidState(c.Status, on, allowed)
		}
	}
	return domain.NewStatusObject(c, p), nil
}

// invalidState returns the error for an operation that the campaign's status does not allow.
func invalidState(s domain.CampaignStatus, on lifecycle.Operation, allowed []domain.CampaignStatus) *domain.Error {
	return domain.Errorf(domain.CodeInvalidState, "a campaign that is %s cannot %s", s, on).
		With("current_status", s).With("allowed_from", allowed)
}
