package lifecycle_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/lifecycle"
)

// documentedTransitions parses the table under a heading of docs/concepts.md. It returns, for each state, the sorted
// states that may follow.
func documentedTransitions(t *testing.T, heading string) map[string][]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/concepts.md")
	require.NoError(t, err)
	_, part, found := strings.Cut(string(page), "\n### "+heading+"\n")
	require.True(t, found, heading)
	part, _, _ = strings.Cut(part, "\n#")
	words := regexp.MustCompile("`([a-z_]+)`")
	names := func(cell string) (all []string) {
		for _, m := range words.FindAllStringSubmatch(cell, -1) {
			all = append(all, m[1])
		}
		slices.Sort(all)
		return all
	}
	table := make(map[string][]string)
	for line := range strings.SplitSeq(part, "\n") {
		if cells := strings.Split(line, "|"); len(cells) == 5 {
			for _, state := range names(cells[1]) {
				table[state] = names(cells[3])
			}
		}
	}
	return table
}

// transitionNames converts a transition table of the code to the form that documentedTransitions returns.
func transitionNames[S ~string](table map[S][]S) map[string][]string {
	out := make(map[string][]string)
	for from, all := range table {
		var to []string
		for _, s := range all {
			to = append(to, string(s))
		}
		slices.Sort(to)
		out[string(from)] = slices.Compact(to)
	}
	return out
}

func TestConceptsDocumentListsStates(t *testing.T) {
	t.Parallel()
	campaigns := map[domain.CampaignStatus][]domain.CampaignStatus{domain.CampaignCompleted: nil, domain.CampaignCancelled: nil}
	for _, r := range lifecycle.CampaignTransitions() {
		campaigns[r.From] = append(campaigns[r.From], r.To)
		if r.Ahead != "" {
			campaigns[r.From] = append(campaigns[r.From], r.Ahead)
		}
	}
	contacts := make(map[string][]string)
	for from, all := range lifecycle.ContactTransitions() {
		contacts[from.String()] = nil
		for _, to := range all {
			contacts[from.String()] = append(contacts[from.String()], to.String())
		}
		slices.Sort(contacts[from.String()])
	}
	assert.Equal(t, transitionNames(campaigns), documentedTransitions(t, "Campaign"))
	assert.Equal(t, contacts, documentedTransitions(t, "Contact"))
	assert.Equal(t, transitionNames(lifecycle.CallTransitions()), documentedTransitions(t, "Call"))
	assert.Equal(t, transitionNames(lifecycle.AppointmentTransitions()), documentedTransitions(t, "Appointment"))
}
