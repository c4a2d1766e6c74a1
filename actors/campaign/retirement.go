package campaign

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/lifecycle"
)

// canRetire says whether the campaign is over, nothing of it is live and no request waits. From here on Over answers
// from the store, and the process keeps nothing.
func (a *Campaign) canRetire() bool {
	return a.rows.campaign.Status.Final() && len(a.open.attempts) == 0 && len(a.open.ends) == 0 && len(a.queue.attempts) == 0 &&
		a.commits.inFlight == nil && a.requests.isEmpty()
}

// retire ends the actor of a campaign that is over or was deleted.
func (a *Campaign) retire(ctx actor.Context) {
	a.phase = gone
	if b := a.commits.inFlight; b != nil { // the campaign was deleted: the commit conflicts, and its answer is ignored
		a.commits.inFlight = nil
		a.undo(ctx, b)
		if b.operation != nil {
			a.requests.operations = append(a.requests.operations, *b.operation)
		}
	}
	a.requests.refuse(ctx, domain.Errorf(domain.CodeUnavailable, "the campaign is over or was deleted").With("retry_after", 1))
	a.releaseAll(ctx)
	ctx.Poison(ctx.Self())
}

// HandleEnded answers Start, Pause, Resume, Cancel and Status for a campaign that is over and whose actor has ended.
func HandleEnded(c *domain.Campaign, p *domain.Progress, msg any) (domain.CampaignStatusObject, error) {
	if on := operationOf(msg).on; on != "" {
		if to, allowed, ok := lifecycle.Campaign(c.Status, on, false); !ok || to != c.Status {
			return domain.CampaignStatusObject{}, invalidState(c.Status, on, allowed)
		}
	}
	return domain.StatusObject(c, p), nil
}

// invalidState answers an operation that a status does not allow.
func invalidState(s domain.CampaignStatus, on lifecycle.Operation, allowed []domain.CampaignStatus) *domain.Error {
	return domain.Errorf(domain.CodeInvalidState, "a campaign that is %s cannot %s", s, on).
		With("current_status", s).With("allowed_from", allowed)
}
