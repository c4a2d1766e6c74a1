package campaign

import (
	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/lifecycle"
)

// retired: the campaign is over, nothing of it is live and nobody waits for an
// answer. The store tells all there is to tell of it from here on (Over), so
// that the process keeps nothing.
func (a *Campaign) retired() bool {
	return a.campaign.Status.Final() && len(a.open) == 0 && len(a.ends) == 0 && len(a.gate) == 0 && a.flight == nil &&
		len(a.ops) == 0 && len(a.revisions) == 0 && len(a.askers) == 0
}

func (a *Campaign) retire(ctx actor.Context) {
	a.phase = gone
	if b := a.flight; b != nil { // it was deleted meanwhile: the commit meets a conflict, of which nobody hears any more
		a.flight = nil
		a.drop(ctx, b)
		if b.op != nil {
			a.ops = append(a.ops, *b.op)
		}
	}
	a.refuse(ctx, domain.Errorf(domain.CodeUnavailable, "the campaign is over or was deleted").With("retry_after", 1))
	a.rest(ctx)
	ctx.Poison(ctx.Self())
}

// Over answers Begin, Pause, Resume, Cancel and Status for a campaign that is
// over and whose actor has ended.
func Over(c *domain.Campaign, p *domain.Progress, msg any) (domain.CampaignStatusObject, error) {
	if on := operationOf(msg).on; on != "" {
		if to, allowed, ok := lifecycle.Campaign(c.Status, on, false); !ok || to != c.Status {
			return domain.CampaignStatusObject{}, refusalOf(c.Status, on, allowed)
		}
	}
	return domain.StatusObject(c, p), nil
}

// refusalOf is what is answered to an operation that a state does not allow.
func refusalOf(s domain.CampaignStatus, on lifecycle.Operation, allowed []domain.CampaignStatus) *domain.Error {
	return domain.Errorf(domain.CodeInvalidState, "a campaign that is %s cannot %s", s, on).
		With("current_status", s).With("allowed_from", allowed)
}
