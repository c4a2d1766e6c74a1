package node_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record/contactlist"
)

func TestDeletedContactsNumberMayBeAddedAgainAndIsCalledOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx := t.Context()
	again, stays := carrierNumber(1, 1, "14"), carrierNumber(1, 2, "14")
	id := h.createCampaign(h.live, h.createAgent(h.live, keyMenuPathway()), again, stays)
	remove := func(ordinal int) {
		require.NoError(t, h.services().Contacts.DeleteContact(ctx, h.live, id, domain.ContactID(id, ordinal)))
	}
	add := func(want domain.ContactsSummary) {
		sum, err := h.services().Contacts.AddContacts(ctx, h.live, id, contactRows(again, stays))
		require.NoError(t, err)
		assert.Equal(t, want, sum.Summary)
	}
	remove(0)
	add(domain.ContactsSummary{Received: 2, Accepted: 1, Duplicates: 1})
	add(domain.ContactsSummary{Received: 2, Duplicates: 2})
	remove(2)
	h.shutdown()
	h.start()
	add(domain.ContactsSummary{Received: 2, Accepted: 1, Duplicates: 1})
	remove(3)
	_, err := h.services().Contacts.UpdateContact(ctx, h.live, id, domain.ContactID(id, 1), func(c *domain.Contact) error {
		c.Phone = again
		return nil
	})
	require.NoError(t, err, "the numbers of deleted contacts are free")
	_, err = h.services().Contacts.AddContacts(ctx, h.live, id, contactRows(stays))
	require.NoError(t, err)
	h.runCampaign(id)
	assert.Equal(t, []int{1, 1}, []int{h.callCount(again), h.callCount(stays)})
}

func TestContactWithoutARequiredVariableIsListedAndNotCalled(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	w := keyMenuPathway()
	w.Variables = []domain.Variable{{Name: "day", Required: true}, {Name: "city"}}
	id := h.createCampaign(h.live, h.createAgent(h.live, w))
	variables, err := d.Contacts.ContactVariables(ctx, h.live, id)
	require.NoError(t, err)
	assert.Equal(t, []string{"day", "city"}, variables)
	lacks, has := carrierNumber(1, 1, "14"), carrierNumber(1, 2, "14")
	columns := domain.ColumnMapping{Columns: map[string]string{"Day": "day"}, Unmapped: []string{"Shoe"}, Missing: []string{"city"}}
	sum, err := d.Contacts.UploadContacts(ctx, h.live, id, contactlist.ContactRows{Columns: &columns, Rows: func(yield func(domain.RawContact, error) bool) {
		for i, c := range []domain.RawContact{
			{Phone: lacks}, {Phone: has, Context: domain.Context{"day": " "}}, {Phone: has, Context: domain.Context{"day": "Monday"}},
		} {
			if c.Line = i + 1; !yield(c, nil) {
				return
			}
		}
	}})
	require.NoError(t, err)
	assert.Equal(t, domain.ContactsSummary{Received: 3, Accepted: 1, MissingVariables: 2}, sum.Summary)
	require.Len(t, sum.Errors, 2)
	assert.Equal(t, []any{1, lacks, domain.Code("missing_variable")}, []any{sum.Errors[0].Line, sum.Errors[0].Phone, sum.Errors[0].Code})
	assert.Equal(t, columns, sum.ColumnMapping)
	u, err := d.Contacts.Upload(ctx, h.live, id, sum.UploadID)
	require.NoError(t, err)
	assert.Equal(t, columns, u.ColumnMapping, "the column mapping is stored")
	_, err = d.Contacts.UpdateContact(ctx, h.live, id, domain.ContactID(id, 0), func(c *domain.Contact) error {
		c.Context = domain.Context{}
		return nil
	})
	assert.Equal(t, domain.CodeValidation, domain.CodeOf(err), "a required variable cannot be removed")
	h.runCampaign(id)
	assert.Equal(t, []int{0, 1}, []int{h.callCount(lacks), h.callCount(has)})
}

func TestFailedDNCImportAddsNoNumbers(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	l, err := d.DNC.CreateDNCList(ctx, h.live, &domain.DNCList{Name: "l"})
	require.NoError(t, err)
	rows := func(n int, end error) func(func(domain.RawNumber, error) bool) {
		return func(yield func(domain.RawNumber, error) bool) {
			for i := range n {
				if !yield(domain.RawNumber{Line: i + 1, Phone: phoneNumber(i % (n - n/10))}, nil) {
					return
				}
			}
			if end != nil {
				yield(domain.RawNumber{}, end)
			}
		}
	}
	entries := func() int {
		now, err := d.DNC.DNCList(ctx, h.live, l.ID)
		require.NoError(t, err)
		return now.Entries
	}
	var within error // error of an import to the same list during the first one
	_, err = d.DNC.ImportDNC(ctx, h.live, l.ID, func(yield func(domain.RawNumber, error) bool) {
		_, within = d.DNC.ImportDNC(ctx, h.live, l.ID, rows(1, nil))
	})
	require.NoError(t, err)
	assert.Equal(t, domain.CodeInvalidState, domain.CodeOf(within))

	broken := errors.New("the body is incomplete")
	_, err = d.DNC.ImportDNC(ctx, h.live, l.ID, rows(5000, broken))
	require.ErrorIs(t, err, broken)
	assert.Zero(t, entries())
	sum, err := d.DNC.ImportDNC(ctx, h.live, l.ID, rows(5000, nil))
	require.NoError(t, err)
	assert.Equal(t, []int{5000, 4500, 500}, []int{sum.Received, sum.Added, sum.Duplicates})
	assert.Equal(t, 4500, entries())
	sum, err = d.DNC.ImportDNC(ctx, h.live, l.ID, rows(5000, nil))
	require.NoError(t, err)
	assert.Equal(t, []int{0, 5000}, []int{sum.Added, sum.Duplicates})
}

func TestConcurrentDNCImportsOfAWorkspaceAreLimited(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	var lists []string
	for range 5 {
		l, err := d.DNC.CreateDNCList(ctx, h.live, &domain.DNCList{Name: "l"})
		require.NoError(t, err)
		lists = append(lists, l.ID)
	}
	var begin func(i int) error // starts an import to each list during the previous one
	begin = func(i int) (last error) {
		_, err := d.DNC.ImportDNC(ctx, h.live, lists[i], func(func(domain.RawNumber, error) bool) {
			if i+1 < len(lists) {
				last = begin(i + 1)
			}
		})
		return errors.Join(last, err)
	}
	assert.Equal(t, domain.CodeUnavailable, domain.CodeOf(begin(0)), "the fifth import has to wait")
	require.NoError(t, begin(4), "those before have ended")
}
