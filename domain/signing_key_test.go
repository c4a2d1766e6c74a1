package domain_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/callboard/callboard/domain"
)

func TestOldKeySignsUntilNewKeyIsPublished(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	key := func(id string, after time.Duration) *domain.SigningKey {
		return &domain.SigningKey{Meta: domain.Meta{ID: id, CreatedAt: start.Add(after)}}
	}
	const day = 24 * time.Hour
	a, b, c := key("a", 0), key("b", 90*day), key("c", 120*day)
	for at, want := range map[time.Duration]domain.SigningKeySet{
		0:                               {Verifying: []*domain.SigningKey{a}, Active: a},
		30*day - time.Millisecond:       {Verifying: []*domain.SigningKey{a}, Active: a},
		30 * day:                        {Verifying: []*domain.SigningKey{a}, Active: a, NeedsNewKey: true},
		89 * day:                        {Verifying: []*domain.SigningKey{a}, Active: a, NeedsNewKey: true},
		90*day + 9*time.Minute:          {Verifying: []*domain.SigningKey{a, b}, Active: a},
		90*day + 10*time.Minute:         {Verifying: []*domain.SigningKey{a, b}, Active: b},
		91*day + time.Hour:              {Verifying: []*domain.SigningKey{a, b}, Active: b},
		91*day + 70*time.Minute:         {Verifying: []*domain.SigningKey{b}, Active: b},
		120*day + 5*time.Minute:         {Verifying: []*domain.SigningKey{b, c}, Active: b},
		121*day + time.Hour + time.Hour: {Verifying: []*domain.SigningKey{c}, Active: c},
	} {
		keys := slices.DeleteFunc([]*domain.SigningKey{a, b, c}, func(k *domain.SigningKey) bool { return k.CreatedAt.After(start.Add(at)) })
		assert.Equal(t, want, domain.SelectSigningKeys(keys, start.Add(at)), "%s", at)
	}
	assert.Equal(t, domain.SigningKeySet{NeedsNewKey: true}, domain.SelectSigningKeys(nil, start))
}
