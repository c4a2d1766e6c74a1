package media_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media"
)

// origin parses the o= line of an SDP: session id, version and address.
func origin(t *testing.T, body []byte) (id, version uint64, addr string) {
	t.Helper()
	_, err := fmt.Sscanf(string(body), "v=0\r\no=- %d %d IN IP4 %s\r\n", &id, &version, &addr)
	require.NoError(t, err, "%s", body)
	return id, version, addr
}

func TestSessionResumesFromStateWithinSameSDP(t *testing.T) {
	one, remote, next := engine(t), engine(t), engine(t)
	s, theirs := open(t, one, media.Options{}), open(t, remote, media.Options{})
	offer := s.Offer()
	id, version, addr := origin(t, offer)
	answer, err := theirs.Answer(offer)
	require.NoError(t, err)
	require.NoError(t, s.Accept(answer))
	s.Begin()
	require.Eventually(t, func() bool { return s.Position() > 100*time.Millisecond }, time.Minute, time.Millisecond)

	text, err := json.Marshal(s.State())
	require.NoError(t, err)
	var state media.SessionState
	require.NoError(t, json.Unmarshal(text, &state))
	state.At = state.At.Add(-3 * time.Second)
	state.RaiseVersion()
	after := open(t, next, media.Options{ResumeFrom: &state})
	assert.GreaterOrEqual(t, after.Position(), 3*time.Second+100*time.Millisecond, "media time includes the interruption")
	again := after.Offer()
	id2, version2, addr2 := origin(t, again)
	assert.Equal(t, id, id2)
	assert.Greater(t, version2, version, "new version of the same SDP session")
	assert.Equal(t, addr, addr2)
	assert.NotEqual(t, s.LocalPort(), after.LocalPort())
	answer, err = theirs.Answer(again)
	require.NoError(t, err)
	require.NoError(t, after.Accept(answer))
}

func TestResumedSRTPSessionOffersSRTPOnly(t *testing.T) {
	e := engine(t)
	safe := media.Options{SRTP: media.SRTPOptional, Confidential: true}
	assert.NotContains(t, string(open(t, e, safe).Offer()), "RTP/SAVP")
	safe.ResumeFrom = &media.SessionState{ID: 1, Version: 2, Secure: true, At: time.Now()}
	offer := string(open(t, e, safe).Offer())
	assert.Contains(t, offer, "RTP/SAVP")
	assert.Contains(t, offer, "a=crypto:")
}
