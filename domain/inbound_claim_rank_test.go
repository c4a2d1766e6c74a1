package domain_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
)

func TestBetterClaimWinsThenOlderTrunk(t *testing.T) {
	t.Parallel()
	at := func(rank domain.ClaimRank, day int, trunk string) domain.CallClaim {
		return domain.CallClaim{Rank: rank, Since: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC), TrunkID: trunk}
	}
	named := at(domain.ClaimCatchAll, 9, "z")
	named.NamedByCredentials = true
	order := []domain.CallClaim{ // in order of precedence, highest first
		at(domain.ClaimNumber, 9, "z"), named, at(domain.ClaimUnauthenticatedNumber, 1, "a"), at(domain.ClaimCatchAll, 1, "b"), at(domain.ClaimCatchAll, 2, "a"),
		at(domain.ClaimCatchAll, 2, "b"), at(domain.ClaimUnauthenticated, 1, "a"), at(domain.ClaimSource, 1, "a"),
		{},
	}
	for i, one := range order {
		for k, other := range order {
			assert.Equal(t, i < k, one.Precedes(other), "%v and %v", one, other)
		}
	}
}

func TestCallBelongsToProcessWithBetterClaim(t *testing.T) {
	t.Parallel()
	at := func(rank domain.ClaimRank, day int) domain.CallClaim {
		return domain.CallClaim{Rank: rank, Since: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)}
	}
	for name, c := range map[string]struct {
		own    domain.CallClaim
		others []domain.CallClaim
		want   int
	}{
		"no other claim":           {at(domain.ClaimCatchAll, 2), nil, -1},
		"no claim":                 {domain.CallClaim{}, []domain.CallClaim{{}, {}}, -1},
		"a number before the rest": {at(domain.ClaimCatchAll, 1), []domain.CallClaim{{}, at(domain.ClaimNumber, 2)}, 1},
		"the older rest of others": {at(domain.ClaimCatchAll, 2), []domain.CallClaim{at(domain.ClaimCatchAll, 3), at(domain.ClaimCatchAll, 1)}, 1},
		"one's own older rest":     {at(domain.ClaimCatchAll, 1), []domain.CallClaim{at(domain.ClaimCatchAll, 2)}, -1},
		"the best of several":      {domain.CallClaim{}, []domain.CallClaim{at(domain.ClaimSource, 1), at(domain.ClaimUnauthenticated, 2)}, 1},
		"the claim by source":      {domain.CallClaim{}, []domain.CallClaim{at(domain.ClaimSource, 1)}, 0},
		"a source that both know":  {at(domain.ClaimSource, 2), []domain.CallClaim{at(domain.ClaimSource, 1)}, -1},
	} {
		others := make([]domain.NodeClaim, len(c.others))
		for i := range others {
			others[i].CallClaim = c.others[i]
		}
		assert.Equal(t, c.want, domain.BestClaim(c.own, others), name)
	}
}
