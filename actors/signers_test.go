package actors_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/httpapi/token"
)

// cupboard is a store that has signing keys and nothing else.
type cupboard struct {
	actors.Store
	keys  map[domain.Key]*domain.SigningKey
	down  bool
	hangs atomic.Bool  // it never answers
	asked atomic.Int32 // how often something was to be kept
}

func (s *cupboard) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	s.asked.Add(1)
	if s.hangs.Load() {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if s.down {
		return nil, errors.New("the disk is full")
	}
	for _, r := range c.Puts {
		if k, ok := r.(*domain.SigningKey); ok {
			s.keys[k.Key()] = k
		}
	}
	for _, k := range c.Deletes {
		delete(s.keys, k)
	}
	return nil, nil
}

func (s *cupboard) List(_ context.Context, _ commit.Query, _ func() domain.Record, each func(domain.Record) error) (string, error) {
	sorted := slices.SortedFunc(maps.Values(s.keys), func(a, b *domain.SigningKey) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, k := range sorted {
		if err := each(k); err != nil {
			return "", err
		}
	}
	return "", nil
}

// cachedFor is how long others may keep the list of keys (Cache-Control of
// jwks.json).
const cachedFor = 5 * time.Minute

func TestSigningKeysChangeWithoutATokenThatSomebodyCannotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &cupboard{keys: make(map[domain.Key]*domain.SigningKey)}
		open := func() *actors.Desk {
			return actors.New(actors.Config{Store: store, Log: slog.New(slog.DiscardHandler)}).Desk()
		}
		d, ctx := open(), t.Context()
		type issued struct {
			text  string
			until time.Time
		}
		var tokens []issued
		// The keys as verifiers have them that keep the list for as long as they
		// may; each asks at another minute.
		var kept [cachedFor / time.Minute][]string
		var signers []string
		p := domain.Principal{KeyID: "key_1", WorkspaceID: "ws_1", Environment: domain.Live}
		read := func(text string) error {
			_, err := token.Read(text, "iss", func(kid string) *domain.SigningKey {
				k, err := d.SigningKey(ctx, kid)
				require.NoError(t, err)
				return k
			}, time.Now())
			return err
		}
		const month = 30 * 24 * time.Hour
		step := time.Minute
		for at := time.Duration(0); at < 64*24*time.Hour; at += step {
			if step = 20 * time.Minute; (at+time.Hour)%month < 4*time.Hour { // about when keys change
				step = time.Minute
			}
			if at%(7*24*time.Hour) == 0 { // an update of the service
				d = open()
			}
			store.down = at >= month && at < month+time.Hour
			now, err := d.SigningKeys(ctx, token.NewKey)
			require.NoError(t, err, "at %s", at)
			kid := now.Signs.ID
			if len(signers) == 0 || signers[len(signers)-1] != kid {
				signers = append(signers, kid)
			}
			require.LessOrEqual(t, len(now.Reads), 2, "at %s", at)
			for i := range kept {
				require.True(t, at == 0 || slices.Contains(kept[i], kid), "at %s a token is signed with a key that somebody cannot know yet", at)
				if at == 0 || step > time.Minute || int(at/time.Minute)%len(kept) == i {
					kept[i] = nil
					for _, k := range now.Reads {
						kept[i] = append(kept[i], k.ID)
					}
				}
			}
			if at%(12*time.Hour) < step || len(signers) == 2 && len(tokens) < 6 {
				text, err := token.Sign(token.Issue("iss", "ada", p, nil, token.Longest, time.Now()), now.Signs)
				require.NoError(t, err)
				tokens = append(tokens, issued{text, time.Now().Add(token.Longest)})
			}
			tokens = slices.DeleteFunc(tokens, func(x issued) bool {
				if time.Now().Before(x.until) {
					if at%(8*time.Hour) < step {
						require.NoError(t, read(x.text), "at %s, and it holds until %s", at, x.until)
					}
					return false
				}
				require.Equal(t, domain.CodeExpiredToken, domain.CodeOf(read(x.text)), "at %s it has expired, and is known still", at)
				return true
			})
			time.Sleep(step)
		}
		require.Len(t, signers, 3, "one month, one month, four days")
		gone, err := d.SigningKey(ctx, signers[0])
		require.NoError(t, err)
		assert.Nil(t, gone, "an old key leaves")
		now, err := d.SigningKeys(ctx, token.NewKey)
		require.NoError(t, err)
		assert.Equal(t, []*domain.SigningKey{now.Signs}, now.Reads)
		assert.Equal(t, signers[2], now.Signs.ID)
		assert.Len(t, store.keys, 2, "the one before goes when the next one comes")
	})
}

func TestAServiceThatNobodyAskedForLongSignsOnWithItsOldKeyUntilTheNextOneIsKnown(t *testing.T) {
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

func TestAStoreThatHangsHoldsUpNoTokenForLong(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &cupboard{keys: make(map[domain.Key]*domain.SigningKey)}
		d := actors.New(actors.Config{Store: store, Log: slog.New(slog.DiscardHandler)}).Desk()
		ctx := t.Context()
		first, err := d.SigningKeys(ctx, token.NewKey)
		require.NoError(t, err)
		time.Sleep(30 * 24 * time.Hour)
		store.hangs.Store(true)
		store.asked.Store(0)
		waited := make(map[time.Duration]int)
		for range 3600 { // a token each second
			from := time.Now()
			now, err := d.SigningKeys(ctx, token.NewKey)
			require.NoError(t, err)
			require.Equal(t, first.Signs, now.Signs, "it signs on with the key that it has")
			known, err := d.SigningKey(ctx, first.Signs.ID)
			require.NoError(t, err)
			require.Equal(t, first.Signs, known)
			waited[time.Since(from)]++
			time.Sleep(time.Second)
		}
		asked := int(store.asked.Load())
		assert.Equal(t, map[time.Duration]int{0: 3600 - asked, time.Second: asked}, waited)
		assert.Equal(t, 11, asked, "more and more seldom")
		store.hangs.Store(false)
		time.Sleep(10 * time.Minute)
		now, err := d.SigningKeys(ctx, token.NewKey)
		require.NoError(t, err)
		assert.Len(t, now.Reads, 2, "the next one is there")
	})
}
