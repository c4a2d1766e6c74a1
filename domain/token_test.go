package domain_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
)

func TestOldKeySignsUntilTheNextOneIsKnown(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	key := func(id string, after time.Duration) *domain.SigningKey {
		return &domain.SigningKey{Meta: domain.Meta{ID: id, CreatedAt: start.Add(after)}}
	}
	const day = 24 * time.Hour
	a, b, c := key("a", 0), key("b", 90*day), key("c", 120*day)
	for at, want := range map[time.Duration]domain.Signing{
		0:                               {Reads: []*domain.SigningKey{a}, Signs: a},
		30*day - time.Millisecond:       {Reads: []*domain.SigningKey{a}, Signs: a},
		30 * day:                        {Reads: []*domain.SigningKey{a}, Signs: a, Next: true},
		89 * day:                        {Reads: []*domain.SigningKey{a}, Signs: a, Next: true},
		90*day + 9*time.Minute:          {Reads: []*domain.SigningKey{a, b}, Signs: a},
		90*day + 10*time.Minute:         {Reads: []*domain.SigningKey{a, b}, Signs: b},
		91*day + time.Hour:              {Reads: []*domain.SigningKey{a, b}, Signs: b},
		91*day + 70*time.Minute:         {Reads: []*domain.SigningKey{b}, Signs: b},
		120*day + 5*time.Minute:         {Reads: []*domain.SigningKey{b, c}, Signs: b},
		121*day + time.Hour + time.Hour: {Reads: []*domain.SigningKey{c}, Signs: c},
	} {
		keys := slices.DeleteFunc([]*domain.SigningKey{a, b, c}, func(k *domain.SigningKey) bool { return k.CreatedAt.After(start.Add(at)) })
		assert.Equal(t, want, domain.SigningOf(keys, start.Add(at)), "%s", at)
	}
	assert.Equal(t, domain.Signing{Next: true}, domain.SigningOf(nil, start))
}
