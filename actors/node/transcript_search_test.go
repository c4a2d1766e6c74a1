package node_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
)

func TestTranscriptSearchReadsALimitedNumberOfTranscripts(t *testing.T) {
	h := newFixture(t, nil)
	p := h.test
	words, err := domain.ParseTranscriptQuery("never")
	require.NoError(t, err)
	first := ""
	for i := range 310 {
		c := &domain.Call{Meta: domain.Meta{ID: mailbox.NewID(domain.PrefixCall), WorkspaceID: p.WorkspaceID, Environment: p.Environment}, Status: domain.CallCompleted, TranscriptAvailable: true}
		h.putRow(c)
		text := "hello"
		if i == 0 {
			first, text = c.ID, "never again"
		}
		h.putRow(&domain.Transcript{CallID: c.ID, WorkspaceID: p.WorkspaceID, Segments: []domain.Segment{{Text: text}}})
	}
	page, err := h.services().Calls.ListCalls(h.Context(), p, calls.Query{Said: words, PageQuery: record.PageQuery{Limit: 100}})
	require.NoError(t, err)
	assert.Empty(t, page.Data, "the 300 newest transcripts do not contain the word")
	require.NotEmpty(t, page.Next)
	page, err = h.services().Calls.ListCalls(h.Context(), p, calls.Query{Said: words, PageQuery: record.PageQuery{Limit: 100, Cursor: page.Next}})
	require.NoError(t, err)
	require.Len(t, page.Data, 1)
	assert.Equal(t, first, page.Data[0].ID)
}
