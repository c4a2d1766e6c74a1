package campaign

import (
	"container/heap"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
)

// maxRevisions bounds what waits for its commit.
const maxRevisions = 1000

// revision changes one idle contact, or removes it.
type revision struct {
	ordinal int
	contact *domain.Contact // nil: it is removed
	phone   string          // of one that is removed
	reply   *actor.PID
	rider   *commit.Rider
}

func (r revision) answer(ctx actor.Context, m any) {
	if r.reply != nil {
		ctx.Send(r.reply, m)
	}
}

func (a *Campaign) revise(ctx actor.Context, r revision) {
	r.reply = ctx.Sender()
	if a.phase == gone && a.campaign.Status.Final() {
		r.answer(ctx, a.refusal(r.ordinal, nil))
		return
	}
	if a.down {
		r.answer(ctx, a.storeError())
		return
	}
	if a.phase == gone || len(a.revisions) >= maxRevisions {
		r.answer(ctx, domain.Errorf(domain.CodeUnavailable, "the contact cannot be changed right now; try again").With("retry_after", 2))
		return
	}
	a.revisions = append(a.revisions, r)
}

// revisable refuses what cannot be done any more.
func (a *Campaign) revisable(ctx actor.Context) {
	if len(a.revisions) == 0 {
		return
	}
	dialled := a.onTheirWay()
	a.revisions = slices.DeleteFunc(a.revisions, func(r revision) bool {
		err := a.refusal(r.ordinal, dialled)
		if err != nil {
			r.answer(ctx, err)
		}
		return err != nil
	})
}

// refusal is why a contact cannot be changed: only one that waits can.
func (a *Campaign) refusal(ordinal int, dialled map[int]bool) *domain.Error {
	if a.campaign.Status.Final() {
		return domain.Errorf(domain.CodeInvalidState, "contacts of a campaign that is over cannot be changed").With("current_status", a.campaign.Status)
	}
	if ordinal < 0 || ordinal >= len(a.people.states) {
		return domain.Errorf(domain.CodeNotFound, "there is no such contact")
	}
	s := a.people.state(ordinal)
	if s == domain.ContactPending || s == domain.ContactRetryWait {
		switch {
		case a.skipped[ordinal]:
			s = domain.ContactSkipped
		case dialled[ordinal]:
			s = domain.ContactOpen
		default:
			return nil
		}
	}
	return domain.Errorf(domain.CodeInvalidState, "a contact can be changed only while it waits, not when it is %s", s).
		With("current_status", s.String()).With("allowed_from", []string{domain.ContactPending.String(), domain.ContactRetryWait.String()})
}

// onTheirWay are the contacts that are being dialled, though not in the store
// yet.
func (a *Campaign) onTheirWay() map[int]bool {
	ordinals := make(map[int]bool, len(a.tries)+len(a.made))
	for _, t := range a.tries {
		ordinals[t.who.ordinal] = true
	}
	for _, t := range a.made {
		ordinals[t.who.ordinal] = true
	}
	return ordinals
}

// revising puts into a batch what changes contacts, one change of each.
func (a *Campaign) revising(b *batch) {
	if len(a.revisions) == 0 || b.campaign != nil && b.campaign.Status.Final() {
		return // they are refused next
	}
	var later []revision
	for _, r := range a.revisions {
		if a.skipped[r.ordinal] {
			later = append(later, r)
			continue
		}
		a.skipped[r.ordinal] = true // nobody rings it meanwhile
		b.revisions = append(b.revisions, r)
		b.board(r.rider)
		if r.contact != nil {
			b.progress.Edits++
			b.put(&domain.ContactEdit{CampaignID: a.campaign.ID, WorkspaceID: a.cfg.Workspace, Ordinal: r.ordinal, Contact: *r.contact})
			continue
		}
		a.remove(b, r)
	}
	a.revisions = later
}

// remove counts a contact as cancelled: it is never rung.
func (a *Campaign) remove(b *batch, r revision) {
	ordinal := r.ordinal
	if a.people.state(ordinal) == domain.ContactRetryWait {
		b.progress.Waits--
	}
	b.progress.Outcomes[domain.OutcomeCancelled]++
	d := delta{ordinal: ordinal, state: domain.ContactCancelled, attempts: a.people.attempts[ordinal]}
	b.deltas = append(b.deltas, d)
	b.decisions = append(b.decisions, a.removed(r, b.begun))
	at := b.begun
	b.put(&domain.ContactResult{
		CampaignID: a.campaign.ID, WorkspaceID: a.cfg.Workspace, Ordinal: ordinal, State: d.state.String(),
		Reason: domain.ReasonRemoved, Attempts: int(d.attempts), Duration: a.people.durations[ordinal], EndedAt: &at,
	})
}

// revised does what follows once the changes are durable.
func (a *Campaign) revised(ctx actor.Context, b *batch, now time.Time) {
	for _, r := range b.revisions {
		delete(a.skipped, r.ordinal)
		due := a.people.forget(r.ordinal)
		if r.contact == nil {
			delete(a.heldBy, r.ordinal) // nobody decides about it any more
		} else {
			delete(a.people.chunks, r.ordinal/domain.ChunkSize)
			a.people.requeue(r.ordinal, later(now, due))
			if a.reading {
				a.outdated = append(a.outdated, r.ordinal/domain.ChunkSize)
			}
		}
		r.answer(ctx, Revised{})
	}
}

// forget takes a contact out of all queues; due is when its retry was to be.
func (p *people) forget(ordinal int) (due time.Time) {
	same := func(c candidate) bool { return c.ordinal == ordinal }
	p.ready = slices.DeleteFunc(p.ready, same)
	p.due = slices.DeleteFunc(p.due, same)
	p.again = slices.DeleteFunc(p.again, func(o int) bool { return o == ordinal })
	for _, held := range []*waits{&p.holds, &p.capped} {
		*held = slices.DeleteFunc(*held, func(w waiting) bool { return w.ordinal == ordinal })
		heap.Init(held)
	}
	for _, z := range p.zones {
		here := func(o int32) bool { return int(o) == ordinal }
		z.wait, z.due = slices.DeleteFunc(z.wait, here), slices.DeleteFunc(z.due, here)
	}
	for i := range p.retries {
		if p.retries[i].ordinal == ordinal {
			due = p.retries[i].at
			heap.Remove(&p.retries, i)
			break
		}
	}
	return due
}

// requeue queues a contact that nothing queues any more.
func (p *people) requeue(ordinal int, due time.Time) {
	switch {
	case p.state(ordinal) == domain.ContactRetryWait:
		p.retry(ordinal, due)
	case p.state(ordinal) == domain.ContactPending && ordinal < p.fresh:
		p.again = append(p.again, ordinal)
	}
}
