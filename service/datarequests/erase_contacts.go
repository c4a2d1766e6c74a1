package datarequests

import (
	"context"
	"errors"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// codeErased is the error code of a pending bulk item that is cancelled because the data of its person was erased.
const codeErased domain.Code = "erased"

// eraseContacts removes the person from all campaigns that have not ended. It waits until their calls to the person have
// ended, and then blanks the stored contacts.
func (j *job) eraseContacts(ctx context.Context) error {
	var found []personContact
	if err := j.eachContact(ctx, func(c personContact) error { found = append(found, c); return nil }); err != nil {
		return err
	}
	for {
		var busy []domain.ResourceRef
		for _, one := range found {
			if !one.hasNumber {
				continue
			}
			idle, err := j.removeContact(ctx, one)
			if err != nil {
				return err
			}
			if !idle {
				busy = append(busy, domain.ResourceRef{ID: domain.ContactID(one.campaign.ID, one.ordinal), Object: "contact"})
			}
		}
		waits, err := j.waitFor(ctx, busy)
		if err != nil {
			return err
		}
		if !waits {
			break
		}
	}
	for _, one := range found {
		if err := j.blankContact(ctx, one); err != nil {
			return err
		}
	}
	j.count("contacts", len(found))
	return nil
}

// removeContact deletes a contact from a campaign that may still call it. idle is true if the campaign starts no more
// calls to the contact. It is false if the deletion has to be repeated later.
func (j *job) removeContact(ctx context.Context, one personContact) (idle bool, err error) {
	p := domain.Principal{WorkspaceID: j.row.WorkspaceID, Environment: j.row.Environment}
	c, err := j.service.campaigns.Campaign(ctx, p, one.campaign.ID)
	if domain.CodeOf(err) == domain.CodeNotFound || err == nil && c.Status.Final() {
		return true, nil // awaitLive waits for a call that goes on
	}
	if err != nil {
		return false, err
	}
	now, err := j.service.list.State(ctx, c, one.ordinal)
	if err != nil || now.Final() {
		return err == nil, err
	}
	err = j.service.contacts.DeleteContact(ctx, p, c.ID, domain.ContactID(c.ID, one.ordinal))
	code := domain.CodeOf(err)
	if code == domain.CodeInvalidState || code == domain.CodeUnavailable {
		return false, nil
	}
	if code == domain.CodeNotFound {
		return true, nil
	}
	return err == nil, err
}

// blankContact deletes the personal data of a contact in its chunk, its edits and its result. If the contact is another
// person whose data only mentions the number, it masks the number instead.
func (j *job) blankContact(ctx context.Context, one personContact) error {
	c := one.campaign
	unlock, err := j.service.contacts.LockUploads(c)
	if err != nil {
		return err
	}
	defer unlock()
	blank := func(contact *domain.Contact) bool {
		if one.hasNumber {
			*contact = domain.Contact{}
			return true
		}
		return j.number.MaskValue(contact)
	}
	chunk := &domain.ContactChunk{WorkspaceID: c.WorkspaceID, CampaignID: c.ID, Index: one.ordinal / domain.ChunkSize}
	edit := &domain.ContactEdit{WorkspaceID: c.WorkspaceID, CampaignID: c.ID, Ordinal: one.ordinal}
	result := &domain.ContactResult{WorkspaceID: c.WorkspaceID, CampaignID: c.ID, Ordinal: one.ordinal}
	err = errors.Join(
		j.change(ctx, chunk, func() bool {
			i := one.ordinal % domain.ChunkSize
			return i < len(chunk.Contacts) && blank(&chunk.Contacts[i])
		}),
		j.change(ctx, edit, func() bool { return blank(&edit.Contact) }),
	)
	if err != nil || !one.hasNumber {
		return err
	}
	return j.change(ctx, result, func() bool {
		result.Notes, result.Intent, result.CallID = "", "", ""
		return true
	})
}

// eraseScreened blanks the uploaded rows of the person that did not become contacts.
func (j *job) eraseScreened(ctx context.Context) error {
	return j.eachRow(ctx, NewRowKind[domain.ScreenedChunk](), func(r domain.Record) error {
		chunk, ok := r.(*domain.ScreenedChunk)
		if !ok {
			return nil
		}
		c := &domain.Campaign{Meta: domain.Meta{ID: chunk.CampaignID, WorkspaceID: chunk.WorkspaceID}}
		unlock, err := j.service.contacts.LockUploads(c)
		if err != nil {
			return err
		}
		defer unlock()
		j.count("screened", 1)
		return j.change(ctx, chunk, func() bool {
			for i := range chunk.Contacts {
				if one := &chunk.Contacts[i]; j.number.Equals(one.Phone) {
					*one = domain.ScreenedContact{}
				} else {
					j.number.MaskValue(one)
				}
			}
			return true
		})
	})
}

// eraseBulkOrders cancels the pending items of bulk jobs that are for the person's number. It waits for the end of jobs
// that add contacts or do-not-call numbers, because these jobs are short.
func (j *job) eraseBulkOrders(ctx context.Context) error {
	for {
		var busy []domain.ResourceRef
		err := j.eachRow(ctx, NewRowKind[domain.BulkChunk](), func(r domain.Record) error {
			chunk, ok := r.(*domain.BulkChunk)
			if !ok {
				return nil
			}
			waits, err := j.cancelBulkOrders(ctx, chunk)
			if waits {
				busy = append(busy, domain.ResourceRef{ID: chunk.BulkID, Object: "bulk"})
			}
			return err
		})
		if err != nil {
			return err
		}
		if waits, err := j.waitFor(ctx, busy); err != nil || !waits {
			return err
		}
	}
}

func (j *job) cancelBulkOrders(ctx context.Context, chunk *domain.BulkChunk) (waits bool, err error) {
	b := &domain.Bulk{Meta: domain.Meta{ID: chunk.BulkID, WorkspaceID: chunk.WorkspaceID}}
	if _, err = j.service.store.Get(ctx, b); err != nil {
		if errors.Is(err, domain.ErrNotFound) {
			err = nil
		}
		return false, err
	}
	if !b.Final() && (b.Type == domain.BulkContacts || b.Type == domain.BulkDNC) {
		return true, nil
	}
	j.service.jobs.StopAndWait(b.WorkspaceID + "/" + b.ID)
	defer func() { j.service.bulk.RunBulk(b) }()
	for i, e := range chunk.Entries {
		if j.number.IsInValue(&e) {
			if err = j.cancelBulkOrder(ctx, b, chunk.Index, i); err != nil {
				return false, err
			}
			j.count("bulk_orders", 1)
		}
	}
	return false, nil
}

// cancelBulkOrder blanks the stored request of one bulk item. If the item is pending, it is cancelled.
func (j *job) cancelBulkOrder(ctx context.Context, b *domain.Bulk, index, i int) error {
	at := index*domain.BulkChunkSize + i
	for range record.MaxTries {
		chunk := &domain.BulkChunk{BulkID: b.ID, WorkspaceID: b.WorkspaceID, Index: index}
		of, err := j.service.store.Get(ctx, chunk)
		if err != nil {
			return err
		}
		version, err := j.service.store.Get(ctx, b)
		if err != nil {
			return err
		}
		item := &domain.BulkItem{BulkID: b.ID, WorkspaceID: b.WorkspaceID, Index: at}
		_, err = j.service.store.Get(ctx, item)
		if err != nil && !errors.Is(err, domain.ErrNotFound) {
			return err
		}
		e := &chunk.Entries[i]
		change := commit.Change{
			Workspace: b.WorkspaceID, Guards: []commit.Guard{{Key: chunk.Key(), Version: of}, {Key: b.Key(), Version: version}}, Puts: []domain.Record{chunk},
		}
		if err != nil && e.Error == nil && !b.Final() {
			b.Pending--
			b.Cancelled++
			item = &domain.BulkItem{BulkID: b.ID, WorkspaceID: b.WorkspaceID, Index: at, Status: domain.ItemCancelled, Code: codeErased, Message: "the number was erased"}
			change.Guards = append(change.Guards, commit.Absent(item.Key()))
			change.Puts = append(change.Puts, item, b)
		}
		if e.Error == nil {
			e.Error = &domain.BulkError{Index: at, Code: codeErased, Message: "the number was erased"}
		}
		e.Order = nil
		j.number.MaskValue(e)
		if _, err = j.service.store.Apply(ctx, change); !errors.Is(err, domain.ErrConflict) {
			return err
		}
	}
	return record.ConflictError()
}
