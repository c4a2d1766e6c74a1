package datarequests

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

// RowKind is a kind of rows as data requests see it.
type RowKind struct {
	Kind  string
	Fresh func() domain.Record
}

// RowsOf returns the kind of a record.
func RowsOf[T any, R record.Row[T]]() RowKind {
	return RowKind{R(new(T)).Key().Kind, func() domain.Record { return R(new(T)) }}
}

// SettingKinds are the settings of a workspace. An erasure names those that
// contain the number and leaves them as they are: an agent that transfers to it
// is to be changed by whoever made it.
func SettingKinds() []RowKind {
	return []RowKind{
		RowsOf[domain.Agent](), RowsOf[domain.AgentVersion](), RowsOf[domain.Pathway](), RowsOf[domain.PathwayVersion](), RowsOf[domain.Tool](),
		RowsOf[domain.KnowledgeBase](), RowsOf[domain.KnowledgeSource](), RowsOf[domain.KnowledgePassage](), RowsOf[domain.Campaign](),
		RowsOf[domain.PinnedScript](), RowsOf[domain.Webhook](), RowsOf[domain.AlertRule](), RowsOf[domain.Provider](), RowsOf[domain.Trunk](),
		RowsOf[domain.PhoneNumber](), RowsOf[domain.Phone](), RowsOf[domain.SMSGateway](), RowsOf[domain.User](), RowsOf[domain.DNCList](),
	}
}

// BlankedKinds are kinds whose rows are not about the person as a whole: the
// number is blanked in them wherever it occurs.
func BlankedKinds() []RowKind {
	return []RowKind{
		RowsOf[domain.ContactResult](), RowsOf[domain.Upload](), RowsOf[domain.BulkErrors](), RowsOf[domain.BulkItem](), RowsOf[domain.AuditEntry](),
		RowsOf[domain.Delivery](), RowsOf[domain.Alert](), RowsOf[domain.AlertMail](), RowsOf[domain.Transcript](),
	}
}

// rows shows the rows of a kind, of the request's environment, that contain the
// number. It reads them all, a page in memory at a time, and gives way to live
// calls.
func (j *job) rows(ctx context.Context, k RowKind, each func(domain.Record) error) error {
	prefix := domain.Key{Kind: k.Kind, Workspace: j.row.WorkspaceID}
	for after, n := "", rowsPerRead; n == rowsPerRead; {
		if err := j.yield(); err != nil {
			return err
		}
		n = 0
		var found []domain.Record
		err := j.service.store.Under(ctx, prefix, after, rowsPerRead, k.Fresh, func(r domain.Record) error {
			n, after = n+1, r.Key().ID
			if j.number.IsInValue(r) {
				found = append(found, r)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, r := range found {
			ours, err := j.isOurs(ctx, r)
			if err == nil && ours {
				err = each(r)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// isOurs says whether a row is of the request's environment: by itself, or by
// the campaign, the bulk job or the call that it belongs to.
func (j *job) isOurs(ctx context.Context, r domain.Record) (bool, error) {
	if v := reflect.Indirect(reflect.ValueOf(r)).FieldByName("Environment"); v.IsValid() && v.String() != "" {
		return v.String() == string(j.row.Environment), nil
	}
	owner, _, _ := strings.Cut(r.Key().ID, "/")
	prefix, _, _ := strings.Cut(owner, "_")
	switch domain.Prefix(prefix) { //nolint:exhaustive // the others own no rows of people
	case domain.PrefixCampaign, domain.PrefixBulk:
		return j.ours[owner], nil
	case domain.PrefixCall:
		c := &domain.Call{Meta: domain.Meta{ID: owner, WorkspaceID: j.row.WorkspaceID}}
		_, err := j.service.store.Get(ctx, c)
		if errors.Is(err, domain.ErrNotFound) {
			return true, nil // what is left of a call that is gone
		}
		return c.Environment == j.row.Environment, err
	}
	return true, nil
}

// change reads a row and stores what f makes of it, under a guard, unless f says
// that there is nothing to change. A row that is gone is left so.
func (j *job) change(ctx context.Context, row domain.Record, f func() bool) error {
	for range record.MaxTries {
		version, err := j.service.store.Get(ctx, row)
		if errors.Is(err, domain.ErrNotFound) || err == nil && !f() {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = j.service.store.Apply(ctx, commit.Change{
			Workspace: j.row.WorkspaceID, Guards: []commit.Guard{{Key: row.Key(), Version: version}}, Puts: []domain.Record{row},
		})
		if !errors.Is(err, domain.ErrConflict) {
			return err
		}
	}
	return record.ConflictError()
}

// isCall, isMessage and the others say whether a row is about the person, and
// does not only mention the number.
func (j *job) isCall(c *domain.Call) bool { return j.number.IsIn(c.From) || j.number.IsIn(c.To) }

func (j *job) isMessage(m *domain.Message) bool {
	return j.number.IsIn(m.From) || j.number.IsIn(m.To)
}

func (j *job) isConversation(t *domain.Texting) bool { return j.number.IsIn(t.Contact) }

func (j *job) isAppointment(a *domain.Appointment) bool {
	return j.number.IsIn(a.Patient.Phone)
}

// isAbout says whether a call, a message, a conversation or an appointment is
// about the person.
func (j *job) isAbout(r domain.Record) bool {
	switch r := r.(type) {
	case *domain.Call:
		return j.isCall(r)
	case *domain.Message:
		return j.isMessage(r)
	case *domain.Texting:
		return j.isConversation(r)
	case *domain.Appointment:
		return j.isAppointment(r)
	}
	return false
}

// PersonKinds are the kinds whose rows are about one person each.
func PersonKinds() []RowKind {
	return []RowKind{RowsOf[domain.Message](), RowsOf[domain.Texting](), RowsOf[domain.Appointment](), RowsOf[domain.Call]()}
}

// collect finds the ids of what is about the person.
func (j *job) collect(ctx context.Context) error {
	for _, k := range PersonKinds() {
		err := j.rows(ctx, k, func(r domain.Record) error {
			if j.isAbout(r) {
				j.about[r.Key().ID] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// personContact is a contact of a campaign that has the number, or mentions it.
type personContact struct {
	campaign *domain.Campaign
	ordinal  int
	contact  domain.Contact
	is       bool // it has the number
}

// contacts shows the contacts of all campaigns that have the number or mention
// it.
func (j *job) contacts(ctx context.Context, each func(personContact) error) error {
	for _, c := range j.campaigns {
		edits, err := j.contactEdits(ctx, c)
		if err != nil {
			return err
		}
		for after, more := "", true; more; {
			if err = j.yield(); err != nil {
				return err
			}
			var found []personContact
			more = false
			err = j.service.store.Under(ctx, domain.Key{Kind: "chunk", Workspace: c.WorkspaceID, ID: c.ID + "/"}, after, 1,
				func() domain.Record { return &domain.ContactChunk{} }, func(r domain.Record) error {
					chunk, ok := r.(*domain.ContactChunk)
					if !ok {
						return nil
					}
					more, after = true, chunk.Key().ID
					found = j.ofChunk(c, chunk, edits)
					return nil
				})
			if err != nil {
				return err
			}
			for _, one := range found {
				if err = each(one); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// contactEdits are the contacts of a campaign that were changed since their upload, by their place.
func (j *job) contactEdits(ctx context.Context, c *domain.Campaign) (map[int]domain.Contact, error) {
	edits := make(map[int]domain.Contact)
	fresh := func() domain.Record { return &domain.ContactEdit{} }
	for after, n := "", rowsPerRead; n == rowsPerRead; {
		n = 0
		err := j.service.store.Under(ctx, domain.Key{Kind: "edit", Workspace: c.WorkspaceID, ID: c.ID + "/"}, after, rowsPerRead, fresh, func(r domain.Record) error {
			if e, ok := r.(*domain.ContactEdit); ok {
				n, after, edits[e.Ordinal] = n+1, e.Key().ID, e.Contact
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return edits, nil
}

func (j *job) ofChunk(c *domain.Campaign, chunk *domain.ContactChunk, edits map[int]domain.Contact) (found []personContact) {
	for i, contact := range chunk.Contacts {
		one := personContact{campaign: c, ordinal: chunk.Index*domain.ChunkSize + i, contact: contact}
		mentioned := j.number.IsInValue(&contact)
		if edit, edited := edits[one.ordinal]; edited {
			one.contact = edit
			mentioned = mentioned || j.number.IsInValue(&edit)
		}
		if one.is = j.number.Equals(one.contact.Phone); one.is || mentioned {
			found = append(found, one)
		}
	}
	return found
}
