package access_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

func newTestKey(t testing.TB, env domain.Environment) (string, access.Key) {
	t.Helper()
	id := domain.ID(domain.PrefixKey, time.UnixMilli(1_700_000_000_000), [10]byte{1, 2, 3})
	text, key, err := access.NewKey(id, env, [24]byte{9, 8, 7, 255})
	require.NoError(t, err)
	assert.Equal(t, id, key.ID)
	return text, key
}

func TestKeyRoundTrip(t *testing.T) {
	t.Parallel()
	for env, prefix := range map[domain.Environment]string{domain.Live: "svc_sk_live_", domain.Test: "svc_sk_test_"} {
		text, made := newTestKey(t, env)
		read, err := access.ParseKey(text)
		require.NoError(t, err)
		assert.Equal(t, made, read)
		assert.Equal(t, env, read.Environment)
		assert.True(t, strings.HasPrefix(text, prefix))
		assert.True(t, strings.HasPrefix(text, read.Prefix+"_"))
		assert.True(t, strings.HasSuffix(text, read.Last4))
		assert.NotContains(t, read.Prefix, read.Last4)
	}
}

func TestChecksumDetectsAnyWrongCharacter(t *testing.T) {
	t.Parallel()
	text, _ := newTestKey(t, domain.Live)
	for i := range text {
		for _, c := range []byte("a9_Z") {
			if text[i] == c {
				continue
			}
			wrong := text[:i] + string(c) + text[i+1:]
			_, err := access.ParseKey(wrong)
			assert.Equal(t, domain.CodeInvalidAPIKey, domain.CodeOf(err), wrong)
		}
	}
	for _, wrong := range []string{"", "svc_sk_live_", text[:len(text)-1], text + "a", " " + text, strings.ToUpper(text), "svc_pk_live_" + text[12:]} {
		_, err := access.ParseKey(wrong)
		assert.Equal(t, domain.CodeInvalidAPIKey, domain.CodeOf(err), wrong)
	}
}

func TestKeyNeedsAPIKeyID(t *testing.T) {
	t.Parallel()
	_, _, err := access.NewKey("wh_01HF7YAT00041061050R3GG28A", domain.Live, [24]byte{})
	require.Error(t, err)
}

func TestHashDependsOnPepper(t *testing.T) {
	t.Parallel()
	text, _ := newTestKey(t, domain.Live)
	mac := hmac.New(sha256.New, []byte("pepper"))
	mac.Write([]byte(text))
	assert.Equal(t, hex.EncodeToString(mac.Sum(nil)), access.HashKey([]byte("pepper"), text))
	assert.True(t, access.SameHash(access.HashKey([]byte("pepper"), text), access.HashKey([]byte("pepper"), text)))
	assert.False(t, access.SameHash(access.HashKey([]byte("pepper"), text), access.HashKey([]byte("salt"), text)))
	assert.False(t, access.SameHash("", access.HashKey([]byte("pepper"), text)))
}

func FuzzParseKey(f *testing.F) {
	text, _ := newTestKey(f, domain.Live)
	f.Add(text)
	f.Add("svc_sk_test_")
	f.Fuzz(func(t *testing.T, text string) {
		key, err := access.ParseKey(text)
		if err != nil {
			assert.Equal(t, domain.CodeInvalidAPIKey, domain.CodeOf(err))
			return
		}
		_, err = domain.ParseID(domain.PrefixKey, key.ID)
		require.NoError(t, err)
		assert.True(t, strings.HasPrefix(text, key.Prefix))
	})
}
