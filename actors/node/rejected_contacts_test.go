package node_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	contactsservice "github.com/callboard/callboard/service/contacts"
)

// requiredVariablePathway returns a pathway that has a required variable.
func requiredVariablePathway() domain.Pathway {
	return domain.Pathway{
		Name: "p", Start: "bye", Variables: []domain.Variable{{Name: "day", Required: true}},
		Nodes: []domain.Node{{ID: "bye", Type: domain.NodeEnd, Prompt: "On {{day}}.", Outcome: domain.OutcomeCompleted}},
	}
}

// campaignResults returns the results of a campaign, one line of text for each contact.
func (h *fixture) campaignResults(id string) []string {
	h.Helper()
	rows, err := h.services().Contacts.CampaignResults(h.Context(), h.live, id)
	require.NoError(h, err)
	var lines []string
	for r, err := range rows {
		require.NoError(h, err)
		lines = append(lines, fmt.Sprint(r.Phone, " ", r.Name, " ", r.Outcome, " ", r.Reason))
	}
	return lines
}

// screenedChunkCount counts the stored chunks with contacts of a campaign that the upload rejected.
func (h *fixture) screenedChunkCount(id string) (n int) {
	h.Helper()
	err := h.store.Under(h.Context(), domain.Key{Kind: "screened", Workspace: h.live.WorkspaceID, ID: id + "/"}, "", 10_000,
		func() domain.Record { return &domain.ScreenedChunk{} }, func(domain.Record) error { n++; return nil })
	require.NoError(h, err)
	return n
}

func TestScreenedRowsAreCountedAndListedInTheResults(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	const listed, abroad, incomplete, good = "+12025550151", "+442079460123", "+12025550152", "+17877654001"
	_, err := d.DNC.ImportDNC(ctx, h.live, domain.DefaultDNCID(h.live.WorkspaceID, h.live.Environment), func(yield func(domain.RawNumber, error) bool) {
		yield(domain.RawNumber{Line: 1, Phone: listed}, nil)
	})
	require.NoError(t, err)
	row := func(line int, phone, name, day string) domain.RawContact {
		return domain.RawContact{Line: line, Phone: phone, Context: domain.Context{"name": name, "day": day}}
	}
	first := []domain.RawContact{
		row(1, listed, "Ada", "Monday"), row(2, abroad, "Ben", "Monday"), row(3, incomplete, "Cem", ""), row(4, good, "Dia", "Monday"),
		row(5, good, "Eve", "Monday"), row(6, "+12020110199", "Fay", "Monday"), row(7, "12", "Gus", "Monday"),
	}
	give := func(rows ...domain.RawContact) func(yield func(domain.RawContact, error) bool) {
		return func(yield func(domain.RawContact, error) bool) {
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
	id := h.createCampaign(h.live, h.createAgent(h.live, requiredVariablePathway()))
	_, _, err = d.Campaigns.UpdateCampaign(ctx, h.live, id, func(c *domain.Campaign) error { c.Compliance.DNCScrub = true; return nil })
	require.NoError(t, err)
	sum, err := d.Contacts.AddContacts(ctx, h.live, id, give(first...))
	require.NoError(t, err)
	assert.Equal(t, domain.ContactsSummary{Received: 7, Accepted: 1, Duplicates: 1, Invalid: 1, DNC: 1, NotAllowed: 2, MissingVariables: 1}, sum.Summary)
	assert.Equal(t, domain.ContactError{Line: 2, Phone: abroad, Code: domain.CodeDestinationNotAllowed, Message: "calls to GB are not allowed in this workspace"}, sum.Errors[1])
	screened := []string{listed + " Ada skipped dnc", abroad + " Ben skipped destination_not_allowed", incomplete + " Cem skipped missing_variable", "+12020110199 Fay skipped destination_not_allowed"}
	assert.Equal(t, append([]string{good + " Dia pending "}, screened...), h.campaignResults(id))
	st := h.campaignStatus(h.live, id)
	assert.Equal(t, 1, st.Progress.Total, "screened rows are not contacts")

	sum, err = d.Contacts.AddContacts(ctx, h.live, id, give(append(first, row(8, incomplete, "Cem", "Friday"))...))
	require.NoError(t, err)
	assert.Equal(t, []int{1, 2}, []int{sum.Summary.Accepted, sum.Summary.NotAllowed})
	assert.Equal(t, []string{good + " Dia pending ", incomplete + " Cem pending ", screened[0], screened[1], screened[3]}, h.campaignResults(id), "each number has one result row")
	assert.Equal(t, 1, h.screenedChunkCount(id))

	broken := errors.New("the connection broke")
	held := 0
	_, err = d.Contacts.AddContacts(ctx, h.live, id, func(yield func(domain.RawContact, error) bool) {
		for i := range 4600 {
			yield(row(i+1, fmt.Sprintf("+4420794%05d", i), "", "Monday"), nil)
		}
		held = h.screenedChunkCount(id)
		yield(domain.RawContact{}, broken)
	})
	require.ErrorIs(t, err, broken)
	assert.Equal(t, []int{9, 1}, []int{held, h.screenedChunkCount(id)}, "provisional rows are removed")
	assert.Len(t, h.campaignResults(id), 5)
	sum, err = d.Contacts.AddContacts(ctx, h.live, id, func(yield func(domain.RawContact, error) bool) {
		for i := range 1100 {
			yield(row(i+1, fmt.Sprintf("+4420794%05d", i), "", "Monday"), nil)
		}
	})
	require.NoError(t, err)
	assert.Equal(t, 1100, sum.Summary.NotAllowed)
	assert.Len(t, h.campaignResults(id), 1105)
	assert.Equal(t, 3, h.screenedChunkCount(id))

	_, err = d.Campaigns.CancelCampaign(ctx, h.live, id, false)
	require.NoError(t, err)
	require.NoError(t, d.Campaigns.DeleteCampaign(ctx, h.live, id))
	h.waitUntil(20e9, "the rows are deleted with the campaign", func() bool { return h.screenedChunkCount(id) == 0 })
}

func TestCampaignStartWarnsOfContactsWithDisallowedDestinations(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	ctx, d := t.Context(), h.services()
	agent := h.createAgent(h.live, keyMenuPathway())
	id, other := h.createCampaign(h.live, agent, "+12025550151", "+12025550152"), h.createCampaign(h.live, agent, "+12025550153")
	all, err := d.Contacts.ListContacts(ctx, h.live, id, contactsservice.Query{Limit: 1})
	require.NoError(t, err)
	_, err = d.Contacts.UpdateContact(ctx, h.live, id, all.Data[0].ID, func(c *domain.Contact) error { c.Phone = "+442079460123"; return nil })
	assert.Equal(t, domain.CodeDestinationNotAllowed, domain.CodeOf(err), "nor may a contact get such a number")
	st, err := d.Campaigns.StartCampaign(ctx, h.live, other)
	require.NoError(t, err)
	assert.Empty(t, st.Warnings)
	_, err = d.Workspaces.UpdateWorkspace(ctx, h.live, func(w *domain.Workspace) error { w.Calling.Countries = []string{"GB"}; return nil })
	require.NoError(t, err)
	st, err = d.Campaigns.StartCampaign(ctx, h.live, id)
	require.NoError(t, err)
	assert.Equal(t, []domain.Detail{{
		Param: "contacts", Code: domain.CodeDestinationNotAllowed,
		Message: "the current rules of the workspace do not allow calls to 2 of the contacts, which will be skipped; the first is +12025550151: calls to US are not allowed in this workspace",
	}}, st.Warnings)
}
