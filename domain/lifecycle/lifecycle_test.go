package lifecycle_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/lifecycle"
)

var campaignStates = []domain.CampaignStatus{
	domain.CampaignDraft, domain.CampaignScheduled, domain.CampaignRunning,
	domain.CampaignPaused, domain.CampaignCompleted, domain.CampaignCancelled,
}

var operations = []lifecycle.Operation{
	lifecycle.Start, lifecycle.Pause, lifecycle.Resume, lifecycle.Cancel,
	lifecycle.Due, lifecycle.Trip, lifecycle.Exhaust, lifecycle.Expire,
}

// campaignTable lists the expected status after each operation (row) in each status (column). "-" means that the
// operation is not allowed, and "=" that it has no effect.
const campaignTable = `
            draft      scheduled  running    paused     completed  cancelled
start       running    =          =          -          -          -
pause       -          paused     paused     =          -          -
resume      -          =          =          running    -          -
cancel      cancelled  cancelled  cancelled  cancelled  -          =
due         -          running    =          -          -          -
trip        -          -          paused     =          -          -
exhaust     -          -          completed  completed  =          -
expire      -          completed  completed  completed  =          -
`

func TestCampaignTableMatchesDocumentation(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	row := func(first string, cells []string) {
		var line strings.Builder
		fmt.Fprintf(&line, "%-12s", first)
		for _, c := range cells {
			fmt.Fprintf(&line, "%-11s", c)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	head := make([]string, 0, len(campaignStates))
	for _, s := range campaignStates {
		head = append(head, string(s))
	}
	b.WriteString("\n")
	row("", head)
	for _, op := range operations {
		cells := make([]string, 0, len(campaignStates))
		for _, from := range campaignStates {
			to, allowed, ok := lifecycle.NextCampaignStatus(from, op, false)
			switch {
			case !ok:
				assert.NotEmpty(t, allowed)
				assert.NotContains(t, allowed, from)
				cells = append(cells, "-")
			case to == from:
				cells = append(cells, "=")
			default:
				assert.Nil(t, allowed)
				cells = append(cells, string(to))
			}
		}
		row(string(op), cells)
	}
	t.Log(b.String())
	assert.Equal(t, campaignTable, b.String())
}

func TestCampaignWithFutureStartIsScheduled(t *testing.T) {
	t.Parallel()
	for from, op := range map[domain.CampaignStatus]lifecycle.Operation{
		domain.CampaignDraft: lifecycle.Start, domain.CampaignPaused: lifecycle.Resume, domain.CampaignScheduled: lifecycle.Start,
	} {
		to, _, ok := lifecycle.NextCampaignStatus(from, op, true)
		assert.True(t, ok)
		assert.Equal(t, domain.CampaignScheduled, to, "%s %s", from, op)
	}
}

func TestRefusalNamesAllowedStates(t *testing.T) {
	t.Parallel()
	_, allowed, ok := lifecycle.NextCampaignStatus(domain.CampaignDraft, lifecycle.Pause, false)
	assert.False(t, ok)
	assert.Equal(t, []domain.CampaignStatus{domain.CampaignScheduled, domain.CampaignRunning}, allowed)
}

func TestEveryCallStateReachesAFinalState(t *testing.T) {
	t.Parallel()
	table := lifecycle.CallTransitions()
	for from, next := range table {
		c := domain.Call{Status: from}
		assert.Equal(t, c.Final(), len(next) == 0, "%s", from)
		for _, to := range next {
			assert.True(t, lifecycle.IsCallTransition(from, to))
			assert.Contains(t, table, to)
		}
		assert.False(t, lifecycle.IsCallTransition(from, domain.CallQueued))
		t.Logf("%s → %v", from, next)
	}
	assert.Len(t, table, 10)
}

func TestEveryContactStateReachesAFinalState(t *testing.T) {
	t.Parallel()
	table := lifecycle.ContactTransitions()
	assert.Len(t, table, int(domain.ContactCancelled)+1)
	for _, from := range slices.Sorted(maps.Keys(table)) {
		assert.Equal(t, from.Final(), len(table[from]) == 0, "%s", from)
		for _, to := range table[from] {
			assert.True(t, lifecycle.IsContactTransition(from, to))
		}
		t.Logf("%s → %v", from, table[from])
	}
	assert.False(t, lifecycle.IsContactTransition(domain.ContactPending, domain.ContactCompleted))
}

func TestShownContactState(t *testing.T) {
	t.Parallel()
	for _, s := range []domain.ContactState{domain.ContactPending, domain.ContactRetryWait} {
		assert.Equal(t, domain.ContactCancelled, lifecycle.ShownContactState(domain.CampaignCancelled, s))
		assert.Equal(t, domain.ContactExpired, lifecycle.ShownContactState(domain.CampaignCompleted, s))
		assert.Equal(t, s, lifecycle.ShownContactState(domain.CampaignPaused, s))
	}
	assert.Equal(t, domain.ContactOpen, lifecycle.ShownContactState(domain.CampaignCancelled, domain.ContactOpen))
	assert.Equal(t, domain.ContactBusy, lifecycle.ShownContactState(domain.CampaignCancelled, domain.ContactBusy))
}
