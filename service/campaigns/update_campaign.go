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

// UpdateCampaign changes a campaign. The function change decides which changes the campaign's status allows. It creates
// a webhook endpoint for each new URL in the webhooks map, with a new secret that UpdateCampaign returns. It deletes
// the endpoints whose URL the map no longer contains.
func (s *Service) UpdateCampaign(ctx context.Context, p domain.Principal, id string, change func(*domain.Campaign) error) (*domain.Campaign, string, error) {
	var changes webhookChanges
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
		changes = webhookChanges{}
		if !maps.Equal(c.Webhooks, before.Webhooks) {
			changes, err = s.replaceWebhooks(ctx, p, c)
		}
		return err
	}, func(ch *commit.Change, _ *domain.Campaign) error {
		ch.Guards = append(ch.Guards, changes.guards...)
		for _, w := range changes.changed {
			ch.Puts = append(ch.Puts, w)
		}
		for _, w := range changes.deleted {
			ch.Deletes = append(ch.Deletes, w.Key())
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	if err = s.notifyWebhookActors(ctx, p, changes); err != nil {
		return nil, "", err
	}
	s.actors.CampaignChanged(c)
	return c, changes.secret, nil
}

// webhookChanges are the changes that turn a campaign's webhook endpoints into those of its new webhooks map.
type webhookChanges struct {
	changed []*domain.Webhook // new endpoints, and endpoints with other events
	deleted []*domain.Webhook
	guards  []commit.Guard // fail the commit if an endpoint was rotated, disabled or deleted since it was read
	secret  string         // secret of the new endpoints
}

// notifyWebhookActors informs the webhook actors about the changed endpoints. It reads each endpoint from the store
// first, because a later request may have changed the endpoint again.
func (s *Service) notifyWebhookActors(ctx context.Context, p domain.Principal, changes webhookChanges) error {
	if len(changes.changed)+len(changes.deleted) == 0 {
		return nil
	}
	unlock, err := s.webhooks.LockSettings(p.WorkspaceID)
	if err != nil {
		return err
	}
	defer unlock()
	for _, w := range changes.changed {
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
	for _, w := range changes.deleted {
		s.webhooks.WebhookDeleted(w)
	}
	return nil
}

// replaceWebhooks computes the changes that turn the stored endpoints of a campaign into those of its webhooks map.
func (s *Service) replaceWebhooks(ctx context.Context, p domain.Principal, c *domain.Campaign) (webhookChanges, error) {
	var out webhookChanges
	wanted, secret, err := s.newWebhooks(ctx, p, c, "")
	if err != nil {
		return out, err
	}
	var listed, existing []*domain.Webhook
	if err = commit.ForEachRow(ctx, s.store, "webhook", c.WorkspaceID, "campaign="+c.ID, func(w *domain.Webhook) { listed = append(listed, w) }); err != nil {
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
		existing, versions[w.ID] = append(existing, now), version
	}
	guard := func(w *domain.Webhook) {
		out.guards = append(out.guards, commit.Guard{Key: w.Key(), Version: versions[w.ID]})
	}
	for _, w := range wanted {
		i := slices.IndexFunc(existing, func(h *domain.Webhook) bool { return h.URL == w.URL })
		if i < 0 || slices.ContainsFunc(w.Events, func(name string) bool { return !slices.Contains(existing[i].Events, name) }) {
			if err = record.RefuseAccessToken(p, "webhooks"); err != nil { // the endpoint would outlive the access token
				return out, err
			}
		}
		if i < 0 {
			out.changed, out.secret = append(out.changed, w), secret
			continue
		}
		h := *existing[i]
		existing = slices.Delete(existing, i, i+1)
		if !slices.Equal(h.Events, w.Events) {
			h.Events, h.UpdatedAt = w.Events, record.Now()
			out.changed = append(out.changed, &h)
			guard(&h)
		}
	}
	for _, w := range existing {
		guard(w)
	}
	out.deleted = existing
	return out, nil
}

// CopyCampaign creates a draft with the settings of another campaign and with its contacts in the given states, but
// without their results. The function change adapts the copy. Up to validation.MaxInlineContacts contacts are stored in
// the commit that creates the draft. More contacts are uploaded after that commit.
func (s *Service) CopyCampaign(ctx context.Context, p domain.Principal, id string, states []string, change func(*domain.Campaign) error) (CreatedCampaign, error) {
	var empty CreatedCampaign
	from, err := s.Campaign(ctx, p, id)
	if err != nil {
		return empty, err
	}
	progress, err := s.list.Progress(ctx, from)
	if err != nil {
		return empty, err
	}
	c := *from
	c.Meta = domain.Meta{Metadata: maps.Clone(from.Metadata)}
	c.Webhooks = maps.Clone(from.Webhooks)
	c.Status, c.PauseReason, c.CompletionReason, c.StartedAt, c.EndedAt = domain.CampaignDraft, "", "", nil, nil
	if c.Test != nil {
		c.Test = &domain.TestMode{TimeFactor: c.Test.TimeFactor}
	}
	if err = change(&c); err != nil {
		return empty, err
	}
	rows := s.contactsInStates(ctx, from, states)
	if progress.Total <= validation.MaxInlineContacts {
		return s.CreateCampaign(ctx, p, &c, "", rows)
	}
	created, err := s.CreateCampaign(ctx, p, &c, "", nil)
	if err != nil {
		return empty, err
	}
	if created.Upload, err = s.contacts.AddContacts(ctx, p, created.Campaign.ID, rows); err != nil {
		if undo := s.DeleteCampaign(context.WithoutCancel(ctx), p, created.Campaign.ID); undo != nil {
			return empty, undo
		}
		return empty, err
	}
	return created, nil
}

// contactsInStates yields the contacts of a campaign that are in the given states, as rows for an upload. It leaves out
// deleted contacts.
func (s *Service) contactsInStates(ctx context.Context, c *domain.Campaign, words []string) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		wanted := make(contactlist.StateSet, domain.ContactInCall+1)
		for _, word := range words {
			for state, has := range contactlist.StatesShownAs(c.Status, word) {
				wanted[state] = wanted[state] || has
			}
		}
		n := 0
		for entry, err := range s.list.All(ctx, c, wanted) {
			if err != nil {
				yield(domain.RawContact{}, err)
				return
			}
			if entry.Contact.Phone == "" || entry.Result != nil && entry.Result.Reason == domain.ReasonRemoved {
				continue // erased contacts have no number
			}
			n++
			row := domain.RawContact{Line: n, Phone: entry.Contact.Phone, Context: entry.Contact.Context, Timezone: entry.Contact.Timezone, Country: entry.Contact.Country}
			if !yield(row, nil) {
				return
			}
		}
	}
}
