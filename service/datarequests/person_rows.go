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

// RowKind is a kind of database rows that a data request searches for the number.
type RowKind struct {
	Kind  string
	Fresh func() domain.Record
}

// NewRowKind returns the RowKind of a record type.
func NewRowKind[T any, R record.Pointer[T]]() RowKind {
	return RowKind{R(new(T)).Key().Kind, func() domain.Record { return R(new(T)) }}
}

// SettingKinds returns the kinds of a workspace's settings. An erasure reports settings that contain the number but
// does not change them. For example, the workspace's user must change an agent that transfers calls to the number.
func SettingKinds() []RowKind {
	return []RowKind{
		NewRowKind[domain.Agent](), NewRowKind[domain.AgentVersion](), NewRowKind[domain.Pathway](), NewRowKind[domain.PathwayVersion](), NewRowKind[domain.Tool](),
		NewRowKind[domain.KnowledgeBase](), NewRowKind[domain.KnowledgeSource](), NewRowKind[domain.KnowledgePassage](), NewRowKind[domain.Campaign](),
		NewRowKind[domain.PinnedScript](), NewRowKind[domain.Webhook](), NewRowKind[domain.AlertRule](), NewRowKind[domain.Provider](), NewRowKind[domain.Trunk](),
		NewRowKind[domain.PhoneNumber](), NewRowKind[domain.Phone](), NewRowKind[domain.SMSGateway](), NewRowKind[domain.User](), NewRowKind[domain.DNCList](),
	}
}

// MaskedKinds returns the kinds of records that are not about one person. An erasure masks the number in them.
func MaskedKinds() []RowKind {
	return []RowKind{
		NewRowKind[domain.ContactResult](), NewRowKind[domain.Upload](), NewRowKind[domain.BulkErrors](), NewRowKind[domain.BulkItem](), NewRowKind[domain.AuditEntry](),
		NewRowKind[domain.Delivery](), NewRowKind[domain.Alert](), NewRowKind[domain.AlertMail](), NewRowKind[domain.Transcript](),
	}
}

// eachRow calls each for the database rows of a kind that contain the number and belong to the environment of the
// request. It reads all rows of the kind in batches, and pauses while the node has live calls.
func (j *job) eachRow(ctx context.Context, k RowKind, each func(domain.Record) error) error {
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
			isInEnvironment, err := j.isInEnvironment(ctx, r)
			if err == nil && isInEnvironment {
				err = each(r)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// isInEnvironment reports whether a record belongs to the environment of the request. A record without an environment
// belongs to the environment of its campaign, bulk job or call.
func (j *job) isInEnvironment(ctx context.Context, r domain.Record) (bool, error) {
	if v := reflect.Indirect(reflect.ValueOf(r)).FieldByName("Environment"); v.IsValid() && v.String() != "" {
		return v.String() == string(j.row.Environment), nil
	}
	owner, _, _ := strings.Cut(r.Key().ID, "/")
	prefix, _, _ := strings.Cut(owner, "_")
	switch domain.Prefix(prefix) { //nolint:exhaustive // the others own no rows of people
	case domain.PrefixCampaign, domain.PrefixBulk:
		return j.inEnvironment[owner], nil
	case domain.PrefixCall:
		c := &domain.Call{Meta: domain.Meta{ID: owner, WorkspaceID: j.row.WorkspaceID}}
		_, err := j.service.store.Get(ctx, c)
		if errors.Is(err, domain.ErrNotFound) {
			return true, nil // the call was deleted; its remaining rows are included
		}
		return c.Environment == j.row.Environment, err
	}
	return true, nil
}

// change reads a record, changes it with f and commits it, and retries if another commit has changed the record
// meanwhile. If f returns false or the record does not exist, it commits nothing.
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

// isCall reports whether the person is the caller or the callee of a call.
func (j *job) isCall(c *domain.Call) bool { return j.number.IsIn(c.From) || j.number.IsIn(c.To) }

func (j *job) isMessage(m *domain.Message) bool {
	return j.number.IsIn(m.From) || j.number.IsIn(m.To)
}

func (j *job) isConversation(t *domain.SMSConversation) bool { return j.number.IsIn(t.Contact) }

func (j *job) isAppointment(a *domain.Appointment) bool {
	return j.number.IsIn(a.Patient.Phone)
}

// isAbout reports whether a call, message, conversation or appointment is about the person.
func (j *job) isAbout(r domain.Record) bool {
	switch r := r.(type) {
	case *domain.Call:
		return j.isCall(r)
	case *domain.Message:
		return j.isMessage(r)
	case *domain.SMSConversation:
		return j.isConversation(r)
	case *domain.Appointment:
		return j.isAppointment(r)
	}
	return false
}

// PersonKinds returns the kinds of records that are about one person each.
func PersonKinds() []RowKind {
	return []RowKind{NewRowKind[domain.Message](), NewRowKind[domain.SMSConversation](), NewRowKind[domain.Appointment](), NewRowKind[domain.Call]()}
}

// collect finds the ids of the records that are about the person.
func (j *job) collect(ctx context.Context) error {
	for _, k := range PersonKinds() {
		err := j.eachRow(ctx, k, func(r domain.Record) error {
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

// personContact is a contact that has the person's number or mentions the number in its data.
type personContact struct {
	campaign  *domain.Campaign
	ordinal   int
	contact   domain.Contact
	hasNumber bool // true: it is the contact's phone number; false: the contact's data only mentions the number
}

// eachContact calls each for the contacts of all campaigns that have the person's number or mention it.
func (j *job) eachContact(ctx context.Context, each func(personContact) error) error {
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
					found = j.matchingContacts(c, chunk, edits)
					return nil
				})
			if err != nil {
				return err
			}
			for _, contact := range found {
				if err = each(contact); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// contactEdits returns the contacts of a campaign that were changed after their upload. The keys of the map are their
// positions in the upload order.
func (j *job) contactEdits(ctx context.Context, c *domain.Campaign) (map[int]domain.Contact, error) {
	edits := make(map[int]domain.Contact)
	newEdit := func() domain.Record { return &domain.ContactEdit{} }
	for after, n := "", rowsPerRead; n == rowsPerRead; {
		n = 0
		err := j.service.store.Under(ctx, domain.Key{Kind: "edit", Workspace: c.WorkspaceID, ID: c.ID + "/"}, after, rowsPerRead, newEdit, func(r domain.Record) error {
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

func (j *job) matchingContacts(c *domain.Campaign, chunk *domain.ContactChunk, edits map[int]domain.Contact) (found []personContact) {
	for i, contact := range chunk.Contacts {
		match := personContact{campaign: c, ordinal: chunk.Index*domain.ChunkSize + i, contact: contact}
		mentioned := j.number.IsInValue(&contact)
		if edit, edited := edits[match.ordinal]; edited {
			match.contact = edit
			mentioned = mentioned || j.number.IsInValue(&edit)
		}
		if match.hasNumber = j.number.Equals(match.contact.Phone); match.hasNumber || mentioned {
			found = append(found, match)
		}
	}
	return found
}
