package media

import (
	"testing"
	"time"

	"github.com/pion/rtp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/sdp"
	"github.com/callboard/callboard/media/srtp"
)

// audioOf returns n samples of the same value.
func audioOf(n int, value byte) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = value
	}
	return out
}

func TestAudioQueueStartsWhenEnoughIsBuffered(t *testing.T) {
	t.Parallel()
	q := audioQueue{slack: 40, most: 480}
	frame := make([]byte, 160)
	q.put(audioOf(160, 1))
	assert.False(t, q.get(frame), "less than a frame and the slack")
	assert.Equal(t, audioOf(160, g711.MuSilence), frame)
	q.put(audioOf(160, 2))
	assert.True(t, q.get(frame))
	assert.Equal(t, audioOf(160, 1), frame)
	q.put(audioOf(80, 3))
	assert.True(t, q.get(frame))
	assert.True(t, q.get(frame))
	assert.Equal(t, append(audioOf(80, 3), audioOf(80, g711.MuSilence)...), frame, "the end is filled up with silence")
	assert.False(t, q.get(frame))
}

func TestAudioQueueDropsTheOldestAudio(t *testing.T) {
	t.Parallel()
	q := audioQueue{most: 320}
	for value := range byte(40) { // more than one turn of the ring
		q.put(audioOf(160, value))
	}
	frame := make([]byte, 160)
	assert.True(t, q.get(frame))
	assert.Equal(t, audioOf(160, 38), frame)
	assert.True(t, q.get(frame))
	assert.Equal(t, audioOf(160, 39), frame)
	q.put(audioOf(1000, 7))
	assert.Equal(t, 320, q.n)
}

func TestPlaybackReportsPlayedDuration(t *testing.T) {
	t.Parallel()
	var p playback
	var events eventList
	p.start(1, audioOf(240, 5), nil)
	assert.True(t, p.isAudible())
	frame := make([]byte, 160)
	assert.Equal(t, 160, p.fill(frame, &events))
	assert.Empty(t, events)
	assert.Equal(t, 80, p.fill(frame, &events))
	assert.Equal(t, eventList{Played{ID: 1, Heard: 30 * time.Millisecond}}, events)
	assert.False(t, p.isAudible())

	events = nil
	p.start(2, audioOf(240, 5), nil)
	p.paused = true
	assert.False(t, p.isAudible())
	p.fill(frame, &events)
	p.interrupt(&events)
	p.interrupt(&events)
	assert.Equal(t, eventList{Played{ID: 2, Interrupted: true, Heard: 20 * time.Millisecond}}, events, "once")
}

func TestHoldMusicRepeats(t *testing.T) {
	t.Parallel()
	frame := make([]byte, 5)
	h := holdMusic{on: true, music: Clip{1, 2, 3}}
	h.fill(frame)
	assert.Equal(t, []byte{1, 2, 3, 1, 2}, frame)
	h.fill(frame)
	assert.Equal(t, []byte{3, 1, 2, 3, 1}, frame)
	h = holdMusic{on: true}
	h.fill(frame)
	assert.Equal(t, audioOf(5, g711.MuSilence), frame)
}

func TestKeyPressOfTwoTransportsIsReportedOnce(t *testing.T) {
	t.Parallel()
	var p keyPresses
	assert.False(t, p.isReported('1', byEvent, 0))
	assert.True(t, p.isReported('1', byInfo, time.Second))
	assert.False(t, p.isReported('1', byInfo, time.Second), "another press, because each transport sends a press once")
	assert.True(t, p.isReported('1', byBand, time.Second), "the tone of the first press")
	assert.True(t, p.isReported('1', byEvent, time.Second), "the event of the second press")
	assert.False(t, p.isReported('2', byEvent, time.Second))
	assert.False(t, p.isReported('2', byInfo, time.Second+pairWithin), "too late for the same press")
}

func TestDirectionKeepsTheLatestPackets(t *testing.T) {
	t.Parallel()
	d := newDirection()
	for i := range uint16(relayMost + 3) {
		d.queuePacket(&rtp.Packet{Header: rtp.Header{SequenceNumber: i}, Payload: []byte{byte(i)}}, PCMU)
	}
	d.queuePacket(&rtp.Packet{Payload: make([]byte, frameMost+1)}, PCMU)
	var got relayed
	for i := range uint16(relayMost) {
		require.True(t, d.next(&got))
		assert.Equal(t, []any{i + 3, []byte{byte(i + 3)}}, []any{got.seq, got.data[:got.n]})
	}
	assert.False(t, d.next(&got))
	d.queuePacket(&rtp.Packet{Payload: []byte{1}}, PCMU)
	assert.False(t, d.drop(false))
	d.setMixed(true)
	assert.True(t, d.drop(false), "the mixed audio differs from the packets")
	assert.False(t, d.next(&got))
	for range pressMost + 1 {
		d.addDigit('1')
	}
	assert.Len(t, d.digits(), pressMost)
	assert.Empty(t, d.digits())
	assert.False(t, d.over())
	d.end()
	assert.True(t, d.over())
}

// securedKeys returns the SRTP keys of an offerer after negotiation, and the result of the negotiation.
func securedKeys(t *testing.T) (*srtpKeys, *sdp.Agreed) {
	t.Helper()
	k := newSRTPKeys(&Options{Confidential: true, SRTP: SRTPRequired, KeyLife: time.Hour})
	offered := k.offer()
	require.Len(t, offered, 3)
	a := &sdp.Agreed{Secure: true, Key: srtp.Attribute{Tag: 2, Key: srtp.NewKey(offered[1].Key.Suite)}}
	require.NoError(t, k.setAgreed(a, true, 0, &sender{}))
	assert.Equal(t, offered[1], k.ours, "the key in the answer")
	return &k, a
}

func TestOfferAfterNegotiationRepeatsItsKey(t *testing.T) {
	t.Parallel()
	k, _ := securedKeys(t)
	assert.Equal(t, []srtp.Attribute{k.ours}, k.offer())
	k.renew = true
	renewed := k.offer()
	require.Len(t, renewed, 1)
	assert.NotEqual(t, k.ours.Key, renewed[0].Key)
	assert.NotEqual(t, k.ours.Tag, renewed[0].Tag)

	k, _ = securedKeys(t)
	before := k.ours.Key
	require.NoError(t, k.setAgreed(&sdp.Agreed{}, true, 0, &sender{}))
	assert.Equal(t, []byte("x"), k.seal([]byte("x")), "in the clear")
	for _, a := range k.offer() {
		assert.NotEqual(t, before, a.Key, "a key that was in use is not offered again")
	}
	inClear := newSRTPKeys(&Options{SRTP: SRTPRequired})
	assert.Empty(t, inClear.offer(), "keys would be sent unencrypted")
}

func TestOwnKeyIsNotAcceptedFromThePeer(t *testing.T) {
	t.Parallel()
	k := newSRTPKeys(&Options{Confidential: true, SRTP: SRTPRequired})
	offered := k.offer()
	assert.Error(t, k.setAgreed(&sdp.Agreed{Secure: true, Key: offered[0]}, true, 0, &sender{}))
}

func TestNewKeyIsUsedWhenPeerHasAnswer(t *testing.T) {
	t.Parallel()
	k, a := securedKeys(t)
	first := k.out
	again := &sdp.Agreed{Secure: true, Offered: true, Key: srtp.Attribute{Tag: 1, Key: srtp.NewKey(a.Key.Key.Suite)}}
	var events eventList
	require.NoError(t, k.setAgreed(again, true, time.Minute, &sender{}))
	assert.Same(t, first, k.out)
	k.maintain(time.Minute+switchWithin-1, true, &sender{}, &events)
	assert.Same(t, first, k.out)
	k.maintain(time.Minute+switchWithin, true, &sender{}, &events)
	assert.NotSame(t, first, k.out)
	assert.Empty(t, events)
	k.maintain(2*time.Hour, true, &sender{}, &events)
	k.maintain(2*time.Hour+time.Minute, true, &sender{}, &events)
	assert.Equal(t, eventList{RekeyDue{}}, events, "reported every ten minutes")
}
