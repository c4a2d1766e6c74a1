package domain_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
)

// logKey returns the HMAC key of the decision logs in these tests.
func logKey() []byte { return []byte("a key that is not in the store") }

// newDecisionLog returns a log of five pages as read from the store.
func newDecisionLog(t *testing.T) []*domain.DecisionPage {
	t.Helper()
	var out []*domain.DecisionPage
	head := ""
	at := time.Date(2026, 3, 2, 12, 0, 0, 123456789, time.UTC)
	for seq := 1; seq <= 5; seq++ {
		p := &domain.DecisionPage{WorkspaceID: "ws_1", CampaignID: "campaign_1", Seq: seq, Prev: head}
		for i := range 3 {
			p.Decisions = append(p.Decisions, domain.Decision{
				At: at, Ordinal: i, Phone: fmt.Sprintf("+1202555%04d", i), Verdict: domain.DecidedDial, Attempt: seq, CallID: "call_1",
				Rules: []domain.Ruling{
					{Rule: "calling_hours", Window: "08:00-21:00", Zone: "America/New_York", Held: 2, First: &at, Last: &at},
					{Rule: "dnc", Passed: true, Lists: []string{"dnc_1"}},
					{Rule: "frequency", Passed: true, Count: 1, Limit: 3},
				},
			})
		}
		p.Hash = p.ComputeHash(logKey())
		head = p.Hash
		text, err := json.Marshal(p)
		require.NoError(t, err)
		kept := &domain.DecisionPage{}
		require.NoError(t, json.Unmarshal(text, kept))
		out = append(out, kept)
	}
	return out
}

func check(pages []*domain.DecisionPage, want int, head string) domain.DecisionChain {
	c := domain.DecisionChain{Key: logKey()}
	for _, p := range pages {
		if !c.VerifyPage(p) {
			break
		}
	}
	c.VerifyEnd(want, head)
	return c
}

func TestUnchangedDecisionLogVerifies(t *testing.T) {
	pages := newDecisionLog(t)
	c := check(pages, 5, pages[4].Hash)
	assert.Equal(t, domain.DecisionChain{Key: logKey(), Pages: 5, Decisions: 15, Head: pages[4].Hash}, c)
	assert.Equal(t, domain.DecisionChain{Key: logKey()}, check(nil, 0, ""))
}

func TestAnyChangeOfDecisionLogIsDetected(t *testing.T) {
	head := newDecisionLog(t)[4].Hash
	other := time.Date(2026, 3, 2, 12, 0, 1, 0, time.UTC)
	for name, c := range map[string]struct {
		touch  func(pages []*domain.DecisionPage) []*domain.DecisionPage
		broken int
	}{
		"another number": {func(p []*domain.DecisionPage) []*domain.DecisionPage {
			p[2].Decisions[1].Phone = "+12025559999"
			return p
		}, 3},
		"another verdict": {func(p []*domain.DecisionPage) []*domain.DecisionPage { p[0].Decisions[0].Verdict = "skip"; return p }, 1},
		"another time":    {func(p []*domain.DecisionPage) []*domain.DecisionPage { p[1].Decisions[2].At = other; return p }, 2},
		"a rule that passed": {func(p []*domain.DecisionPage) []*domain.DecisionPage {
			p[1].Decisions[0].Rules[0].Passed = true
			return p
		}, 2},
		"another count": {func(p []*domain.DecisionPage) []*domain.DecisionPage { p[3].Decisions[0].Rules[2].Count = 0; return p }, 4},
		"another list": {func(p []*domain.DecisionPage) []*domain.DecisionPage {
			p[3].Decisions[0].Rules[1].Lists = []string{"dnc_", "1"}
			return p
		}, 4},
		"a decision gone": {func(p []*domain.DecisionPage) []*domain.DecisionPage {
			p[4].Decisions = p[4].Decisions[1:]
			return p
		}, 5},
		"a row gone":       {func(p []*domain.DecisionPage) []*domain.DecisionPage { return slices.Delete(p, 1, 2) }, 2},
		"the last row cut": {func(p []*domain.DecisionPage) []*domain.DecisionPage { return p[:4] }, 5},
		"a row changed with its hash": {func(p []*domain.DecisionPage) []*domain.DecisionPage {
			p[1].Decisions[0].Phone = "+12025559999"
			p[1].Hash = p[1].ComputeHash(logKey())
			return p
		}, 3},
		"the last row changed with its hash": {func(p []*domain.DecisionPage) []*domain.DecisionPage {
			p[4].Decisions[0].Phone = "+12025559999"
			p[4].Hash = p[4].ComputeHash(logKey())
			return p
		}, 5},
		"a row more": {func(p []*domain.DecisionPage) []*domain.DecisionPage {
			more := *p[4]
			more.Seq, more.Prev = 6, p[4].Hash
			more.Hash = more.ComputeHash(logKey())
			return append(p, &more)
		}, 5},
		"a row made anew without the key": {func(p []*domain.DecisionPage) []*domain.DecisionPage {
			p[3].Decisions[0].Phone = "+12025559999"
			p[3].Hash = p[3].ComputeHash(nil)
			return p
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			got := check(c.touch(newDecisionLog(t)), 5, head)
			assert.Equal(t, c.broken, got.Broken, got.Reason)
			assert.NotEmpty(t, got.Reason)
		})
	}
}

// An attacker with write access to the store can recompute all hashes and counters. Without the key the verification
// fails.
func TestDecisionLogRewrittenWithoutKeyFailsVerification(t *testing.T) {
	for name, key := range map[string][]byte{"without one": nil, "with another one": []byte("another key")} {
		t.Run(name, func(t *testing.T) {
			pages := newDecisionLog(t)
			for i := 2; i < 5; i++ {
				pages[i].Decisions[0].Verdict = domain.DecidedSkip
				pages[i].Prev = pages[i-1].Hash
				pages[i].Hash = pages[i].ComputeHash(key)
			}
			assert.Equal(t, 3, check(pages, 5, pages[4].Hash).Broken)
		})
	}
}
