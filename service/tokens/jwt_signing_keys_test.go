package tokens_test

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

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/httpapi/token"
	"github.com/callboard/callboard/service/tokens"
)

// keyStore is a fake store that contains only signing keys.
type keyStore struct {
	commit.Store

	keys    map[domain.Key]*domain.SigningKey
	down    bool
	hangs   atomic.Bool  // commits do not end
	commits atomic.Int32 // number of tried commits
}

func (s *keyStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	s.commits.Add(1)
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

func (s *keyStore) List(_ context.Context, _ commit.Query, _ func() domain.Record, each func(domain.Record) error) (string, error) {
	sorted := slices.SortedFunc(maps.Values(s.keys), func(a, b *domain.SigningKey) int { return a.CreatedAt.Compare(b.CreatedAt) })
	for _, k := range sorted {
		if err := each(k); err != nil {
			return "", err
		}
	}
	return "", nil
}

func newService(store *keyStore) *tokens.Service {
	return tokens.New(tokens.Config{Store: store, Log: slog.New(slog.DiscardHandler)})
}

// cachedFor is how long verifiers may cache the list of keys (Cache-Control of jwks.json).
const cachedFor = 5 * time.Minute

func TestTokensStayVerifiableAcrossSigningKeyRotation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &keyStore{keys: make(map[domain.Key]*domain.SigningKey)}
		open := func() *tokens.Service { return newService(store) }
		d, ctx := open(), t.Context()
		type issued struct {
			text  string
			until time.Time
		}
		var issuedTokens []issued
		// Verifiers cache the list of keys for as long as cachedFor allows. Each verifier reads the list at another minute.
		var kept [cachedFor / time.Minute][]string
		var signers []string
		p := domain.Principal{KeyID: "key_1", WorkspaceID: "ws_1", Environment: domain.Live}
		read := func(text string) error {
			_, err := token.Parse(text, "iss", func(kid string) *domain.SigningKey {
				k, err := d.SigningKey(ctx, kid)
				require.NoError(t, err)
				return k
			}, time.Now())
			return err
		}
		const month = 30 * 24 * time.Hour
		step := time.Minute
		for at := time.Duration(0); at < 64*24*time.Hour; at += step {
			if step = 20 * time.Minute; (at+time.Hour)%month < 4*time.Hour { // smaller steps around the time when keys change
				step = time.Minute
			}
			if at%(7*24*time.Hour) == 0 { // a restart of the service
				d = open()
			}
			store.down = at >= month && at < month+time.Hour
			now, err := d.EnsureSigningKeys(ctx, token.NewKey)
			require.NoError(t, err, "at %s", at)
			kid := now.Active.ID
			if len(signers) == 0 || signers[len(signers)-1] != kid {
				signers = append(signers, kid)
			}
			require.LessOrEqual(t, len(now.Verifying), 2, "at %s", at)
			for i := range kept {
				require.True(t, at == 0 || slices.Contains(kept[i], kid), "at %s a token is signed with a key that somebody cannot know yet", at)
				if at == 0 || step > time.Minute || int(at/time.Minute)%len(kept) == i {
					kept[i] = nil
					for _, k := range now.Verifying {
						kept[i] = append(kept[i], k.ID)
					}
				}
			}
			if at%(12*time.Hour) < step || len(signers) == 2 && len(issuedTokens) < 6 {
				text, err := token.Sign(token.UserClaims("iss", "ada", p, nil, token.MaxLifetime, time.Now()), now.Active)
				require.NoError(t, err)
				issuedTokens = append(issuedTokens, issued{text, time.Now().Add(token.MaxLifetime)})
			}
			issuedTokens = slices.DeleteFunc(issuedTokens, func(x issued) bool {
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
		require.Len(t, signers, 3, "keys of one month, one month and four days")
		gone, err := d.SigningKey(ctx, signers[0])
		require.NoError(t, err)
		assert.Nil(t, gone, "an expired key is deleted")
		now, err := d.EnsureSigningKeys(ctx, token.NewKey)
		require.NoError(t, err)
		assert.Equal(t, []*domain.SigningKey{now.Active}, now.Verifying)
		assert.Equal(t, signers[2], now.Active.ID)
		assert.Len(t, store.keys, 2, "the previous key is deleted when the next one is created")
	})
}

func TestHangingStoreDelaysTokenByAtMostOneSecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &keyStore{keys: make(map[domain.Key]*domain.SigningKey)}
		d := newService(store)
		ctx := t.Context()
		first, err := d.EnsureSigningKeys(ctx, token.NewKey)
		require.NoError(t, err)
		time.Sleep(30 * 24 * time.Hour)
		store.hangs.Store(true)
		store.commits.Store(0)
		waited := make(map[time.Duration]int)
		for range 3600 { // one token per second
			from := time.Now()
			now, err := d.EnsureSigningKeys(ctx, token.NewKey)
			require.NoError(t, err)
			require.Equal(t, first.Active, now.Active, "the current key signs while the store does not answer")
			known, err := d.SigningKey(ctx, first.Active.ID)
			require.NoError(t, err)
			require.Equal(t, first.Active, known)
			waited[time.Since(from)]++
			time.Sleep(time.Second)
		}
		asked := int(store.commits.Load())
		assert.Equal(t, map[time.Duration]int{0: 3600 - asked, time.Second: asked}, waited)
		assert.Equal(t, 11, asked, "attempts become rarer")
		store.hangs.Store(false)
		time.Sleep(10 * time.Minute)
		now, err := d.EnsureSigningKeys(ctx, token.NewKey)
		require.NoError(t, err)
		assert.Len(t, now.Verifying, 2, "the next key exists")
	})
}

func TestSigningKeyOfAnotherNodeIsReadAfterFailedCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := &keyStore{keys: make(map[domain.Key]*domain.SigningKey)}
		one := newService(store)
		two := tokens.New(tokens.Config{Store: store, Cluster: true, Log: slog.New(slog.DiscardHandler)})
		first, err := two.EnsureSigningKeys(t.Context(), token.NewKey)
		require.NoError(t, err)
		time.Sleep(30 * 24 * time.Hour)
		store.down = true
		got, err := two.EnsureSigningKeys(t.Context(), token.NewKey)
		require.NoError(t, err, "the old key continues to sign")
		assert.Equal(t, first.Verifying, got.Verifying)
		store.down = false
		next, err := one.EnsureSigningKeys(t.Context(), token.NewKey)
		require.NoError(t, err)
		require.Len(t, next.Verifying, 2)
		time.Sleep(6 * time.Second) // shorter than the delay before the next attempt
		got, err = two.EnsureSigningKeys(t.Context(), token.NewKey)
		require.NoError(t, err)
		assert.Equal(t, next.Verifying, got.Verifying)
	})
}
