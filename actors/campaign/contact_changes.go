package campaign

import (
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// contactChange is a request to replace or cancel one waiting contact.
type contactChange struct {
	ordinal int
	contact *domain.Contact // nil: cancel the contact
	phone   string          // number of a cancelled contact
	sender  *actor.PID
	rider   *commit.PendingAudit
}

func (r contactChange) replyTo(ctx actor.Context, m any) {
	if r.sender != nil {
		ctx.Send(r.sender, m)
	}
}

func (a *Campaign) onContactChange(ctx actor.Context, r contactChange) {
	r.sender = ctx.Sender()
	if a.phase == gone && a.rows.campaign.Status.Final() {
		r.replyTo(ctx, a.contacts.changeError(a.rows.campaign.Status, r.ordinal, nil))
		return
	}
	if a.commits.storeDown {
		r.replyTo(ctx, a.commits.storeError())
		return
	}
	if a.phase == gone || len(a.requests.contactChanges) >= maxContactChanges {
		r.replyTo(ctx, domain.Errorf(domain.CodeUnavailable, "the contact cannot be changed right now; try again").With("retry_after", 2))
		return
	}
	a.requests.contactChanges = append(a.requests.contactChanges, r)
}

// refuseContactChanges refuses the queued changes of contacts that cannot be changed any more.
func (a *Campaign) refuseContactChanges(ctx actor.Context) {
	if len(a.requests.contactChanges) == 0 {
		return
	}
	dialed := a.preparation.pending.ordinals()
	a.requests.contactChanges = slices.DeleteFunc(a.requests.contactChanges, func(r contactChange) bool {
		err := a.contacts.changeError(a.rows.campaign.Status, r.ordinal, dialed)
		if err != nil {
			r.replyTo(ctx, err)
		}
		return err != nil
	})
}

// changeError returns the reason why a contact cannot be changed, or nil. Only waiting contacts of a campaign that has not
// ended can be changed. dialed contains the contacts whose calls are being prepared.
func (q *contactQueue) changeError(status domain.CampaignStatus, ordinal int, dialed map[int]bool) *domain.Error {
	if status.Final() {
		return domain.Errorf(domain.CodeInvalidState, "contacts of a campaign that has ended cannot be changed").With("current_status", status)
	}
	if ordinal < 0 || ordinal >= len(q.states) {
		return domain.Errorf(domain.CodeNotFound, "the campaign has no such contact")
	}
	s := q.state(ordinal)
	if s == domain.ContactPending || s == domain.ContactRetryWait {
		switch {
		case q.skipped[ordinal]:
			s = domain.ContactSkipped
		case dialed[ordinal]:
			s = domain.ContactOpen
		default:
			return nil
		}
	}
	return domain.Errorf(domain.CodeInvalidState, "a contact can be changed only while it waits, not when it is %s", s).
		With("current_status", s.String()).With("allowed_from", []string{domain.ContactPending.String(), domain.ContactRetryWait.String()})
}

// changeContacts adds contact changes to the commit, one per contact. It
// returns the changes of contacts that are already being changed or skipped.
func (b *batch) changeContacts(changes []contactChange) (others []contactChange) {
	for _, r := range changes {
		if b.contacts.skipped[r.ordinal] {
			others = append(others, r)
			continue
		}
		b.contacts.skipped[r.ordinal] = true // prevents a call until the change is durable
		b.changes = append(b.changes, r)
		b.addAuditEntry(r.rider)
		if r.contact != nil {
			b.progress.Edits++
			b.put(&domain.ContactEdit{CampaignID: b.rows.campaign.ID, WorkspaceID: b.cfg.Workspace, Ordinal: r.ordinal, Contact: *r.contact})
			continue
		}
		b.progress.Outcomes[domain.OutcomeCancelled]++
		b.log = append(b.log, b.removeDecision(r))
		b.closeContact(r.ordinal, domain.ContactCancelled, domain.ReasonRemoved)
	}
	return others
}

// afterContactChanges queues edited contacts again once their change is durable, and replies to the requests.
func (a *Campaign) afterContactChanges(ctx actor.Context, b *batch, now time.Time) {
	for _, r := range b.changes {
		delete(a.contacts.skipped, r.ordinal)
		due := a.contacts.remove(r.ordinal)
		if r.contact == nil {
			a.decisions.takeHolds(r.ordinal)
		} else {
			a.contacts.cache.invalidate(r.ordinal)
			a.contacts.requeue(r.ordinal, later(now, due))
		}
		r.replyTo(ctx, ContactRevised{})
	}
}
