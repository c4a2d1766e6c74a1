package campaigns

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// UpdateCampaign changes a campaign; what may be changed in which state is
// change's to say. New URLs in the webhooks map become endpoints with a new
// secret, which is answered; those that are no longer in it are deleted.
func (s *Service) UpdateCampaign(ctx context.Context, p domain.Principal, id string, change func(*domain.Campaign) error) (*domain.Campaign, string, error) {
	var moved webhookChange
	c, err := record.Update(ctx, s.store, p, domain.PrefixCampaign, id, func(c *domain.Campaign) error {
		before := *c
		c.Webhooks = maps.Clone(c.Webhooks)
		err := change(c)
		if err != nil {
			return err
		}
		if c.AgentID != before.AgentID || c.PathwayID != before.PathwayID || c.Compliance.DNCListID != before.Compliance.DNCListID {
			if err = s.CheckReferences(ctx, p, c); err != nil {
				return err
			}
		}
		moved = webhookChange{}
		if !maps.Equal(c.Webhooks, before.Webhooks) {
			moved, err = s.replaceWebhooks(ctx, p, c)
		}
		return err
	}, func(ch *commit.Change, _ *domain.Campaign) error {
		ch.Guards = append(ch.Guards, moved.guards...)
		for _, w := range moved.changed {
			ch.Puts = append(ch.Puts, w)
		}
		for _, w := range moved.deleted {
			ch.Deletes = append(ch.Deletes, w.Key())
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	if err = s.tellWebhookActors(ctx, p, moved); err != nil {
		return nil, "", err
	}
	s.actors.CampaignChanged(c)
	return c, moved.secret, nil
}

// webhookChange is what another webhooks map does to a campaign's endpoints.
type webhookChange struct {
	changed []*domain.Webhook // new, or with other events
	deleted []*domain.Webhook
	guards  []commit.Guard // they are as they were read: not rotated, disabled or deleted meanwhile
	secret  string         // of the new ones
}

// tellWebhookActors tells the actors what the endpoints are now, which may be more than
// this change made of them.
func (s *Service) tellWebhookActors(ctx context.Context, p domain.Principal, moved webhookChange) error {
	if len(moved.changed)+len(moved.deleted) == 0 {
		return nil
	}
	unlock, err := s.webhooks.LockSettings(p.WorkspaceID)
	if err != nil {
		return err
	}
	defer unlock()
	for _, w := range moved.changed {
		now := &domain.Webhook{Meta: domain.Meta{ID: w.ID, WorkspaceID: w.WorkspaceID}}
		_, err = s.store.Get(ctx, now)
		if errors.Is(err, domain.ErrNotFound) {
			continue
		}
		if err != nil {
			now = w
		}
		s.webhooks.WebhookChanged(ctx, now)
	}
	for _, w := range moved.deleted {
		s.webhooks.WebhookDeleted(w)
	}
	return nil
}

func (s *Service) replaceWebhooks(ctx context.Context, p domain.Principal, c *domain.Campaign) (webhookChange, error) {
	var out webhookChange
	wanted, secret, err := s.newWebhooks(ctx, p, c, "")
	if err != nil {
		return out, err
	}
	var listed, have []*domain.Webhook
	if err = commit.Each(ctx, s.store, "webhook", c.WorkspaceID, "campaign="+c.ID, func(w *domain.Webhook) { listed = append(listed, w) }); err != nil {
		return out, commit.StoreError(err)
	}
	versions := make(map[string]uint64, len(listed))
	for _, w := range listed {
		now := &domain.Webhook{Meta: domain.Meta{ID: w.ID, WorkspaceID: w.WorkspaceID}}
		version, failed := s.store.Get(ctx, now)
		if errors.Is(failed, domain.ErrNotFound) {
			continue
		}
		if failed != nil {
			return out, commit.StoreError(failed)
		}
		have, versions[w.ID] = append(have, now), version
	}
	guard := func(w *domain.Webhook) {
		out.guards = append(out.guards, commit.Guard{Key: w.Key(), Version: versions[w.ID]})
	}
	for _, w := range wanted {
		i := slices.IndexFunc(have, func(h *domain.Webhook) bool { return h.URL == w.URL })
		if i < 0 || slices.ContainsFunc(w.Events, func(name string) bool { return !slices.Contains(have[i].Events, name) }) {
			if err = record.RefuseAccessToken(p, "webhooks"); err != nil { // an address or events that outlive a token
				return out, err
			}
		}
		if i < 0 {
			out.changed, out.secret = append(out.changed, w), secret
			continue
		}
		h := *have[i]
		have = slices.Delete(have, i, i+1)
		if !slices.Equal(h.Events, w.Events) {
			h.Events, h.UpdatedAt = w.Events, record.Now()
			out.changed = append(out.changed, &h)
			guard(&h)
		}
	}
	for _, w := range have {
		guard(w)
	}
	out.deleted = have
	return out, nil
}

// CopyCampaign makes a new campaign of what another one was asked to be, with
// those of its contacts who are in one of the states now; none of what happened
// is copied. change makes the copy fit. Up to as many contacts as may come
// inline the copy is there at once or not at all; more are read in behind it.
func (s *Service) CopyCampaign(ctx context.Context, p domain.Principal, id string, states []string, change func(*domain.Campaign) error) (Created, error) {
	var none Created
	from, err := s.Campaign(ctx, p, id)
	if err != nil {
		return none, err
	}
	progress, err := s.list.Progress(ctx, from)
	if err != nil {
		return none, err
	}
	c := *from
	c.Meta = domain.Meta{Metadata: maps.Clone(from.Metadata)}
	c.Webhooks = maps.Clone(from.Webhooks)
	c.Status, c.PauseReason, c.CompletionReason, c.StartedAt, c.EndedAt = domain.CampaignDraft, "", "", nil, nil
	if c.Test != nil {
		c.Test = &domain.TestMode{TimeFactor: c.Test.TimeFactor}
	}
	if err = change(&c); err != nil {
		return none, err
	}
	rows := s.contactsInStates(ctx, from, states)
	if progress.Total <= validation.MaxInlineContacts {
		return s.CreateCampaign(ctx, p, &c, "", rows)
	}
	made, err := s.CreateCampaign(ctx, p, &c, "", nil)
	if err != nil {
		return none, err
	}
	if made.Upload, err = s.contacts.AddContacts(ctx, p, made.Campaign.ID, rows); err != nil {
		if undo := s.DeleteCampaign(context.WithoutCancel(ctx), p, made.Campaign.ID); undo != nil {
			return none, undo
		}
		return none, err
	}
	return made, nil
}

// contactsInStates are the contacts of a campaign in some states, as if they were sent. Who
// was taken out stays out.
func (s *Service) contactsInStates(ctx context.Context, c *domain.Campaign, words []string) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		wanted := make(contactlist.StateSet, domain.ContactInCall+1)
		for _, word := range words {
			for state, has := range contactlist.StatesShownAs(c.Status, word) {
				wanted[state] = wanted[state] || has
			}
		}
		n := 0
		for one, err := range s.list.All(ctx, c, wanted) {
			if err != nil {
				yield(domain.RawContact{}, err)
				return
			}
			if one.Contact.Phone == "" || one.Result != nil && one.Result.Reason == domain.ReasonRemoved {
				continue // who was erased has no number
			}
			n++
			row := domain.RawContact{Line: n, Phone: one.Contact.Phone, Context: one.Contact.Context, Timezone: one.Contact.Timezone, Country: one.Contact.Country}
			if !yield(row, nil) {
				return
			}
		}
	}
}
