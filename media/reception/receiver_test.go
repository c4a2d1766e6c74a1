package reception_test

import (
	"testing"

	"github.com/pion/rtp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/reception"
)

func TestReceiverCountsLossCopiesAndSequenceRollover(t *testing.T) {
	var r reception.Receiver
	at := int64(0)
	got := func(ssrc uint32, seq uint16) reception.Verdict {
		at += 160
		return r.AddPacket(&rtp.Header{SequenceNumber: seq, SSRC: ssrc, Timestamp: uint32(at)}, at, true)
	}
	assert.Equal(t, reception.NewSource, got(1, 65533))
	assert.Equal(t, reception.Continues, got(1, 65534))
	assert.Equal(t, reception.Repeated, got(1, 65534))
	assert.Equal(t, reception.Continues, got(1, 1), "65535 and 0 are missing")
	assert.Equal(t, reception.Totals{Received: 3, Lost: 2, Repeated: 1}, r.Totals())
	report, ok := r.Report()
	require.True(t, ok)
	assert.Equal(t, reception.Report{SSRC: 1, Fraction: 2 * 256 / 5, Lost: 2, Highest: 2<<16 | 1, Jitter: report.Jitter}, report)
	assert.Equal(t, reception.Continues, got(1, 0), "late is not lost")
	assert.Equal(t, reception.Totals{Received: 4, Lost: 1, Repeated: 1}, r.Totals())
	assert.Equal(t, reception.NewSource, got(2, 9))
	assert.Equal(t, reception.NewSource, got(2, 30000))
	assert.Equal(t, reception.Totals{Received: 6, Lost: 1, Repeated: 1}, r.Totals(), "earlier sources are kept")
}

func TestReceiverCountsLateCopiesSeparately(t *testing.T) {
	var r reception.Receiver
	for i := range 300 {
		p := rtp.Header{SequenceNumber: uint16(65400 + i), SSRC: 1, Timestamp: uint32(i * 160)}
		if i == 150 {
			continue
		}
		r.AddPacket(&p, int64(i*160), true)
		for _, back := range []int{0, 3, 63, 64, 120} {
			if i%10 == 0 && back <= i {
				p.SequenceNumber, p.Timestamp = uint16(65400+i-back), uint32((i-back)*160)
				assert.Equal(t, reception.Repeated, r.AddPacket(&p, int64(i*160), true), "%d after %d", back, i)
			}
		}
	}
	got := r.Totals()
	assert.Equal(t, reception.Totals{Received: 299, Lost: 1, Repeated: got.Repeated}, got, "copies hide no loss")
	assert.Greater(t, got.Repeated, uint64(100))
	assert.Zero(t, r.Jitter(), "and are no jitter")
}

func TestJitterMatchesRFC3550(t *testing.T) {
	var r reception.Receiver
	want := 0.0
	for i := range 200 {
		late := int64(i%2) * 80
		r.AddPacket(&rtp.Header{SequenceNumber: uint16(i), Timestamp: uint32(i * 160)}, int64(i*160)+late, true)
		if i > 0 {
			want += (80 - want) / 16
		}
	}
	assert.InDelta(t, want, r.Jitter(), 0.001)
	assert.InDelta(t, want, r.WorstJitter(), 0.001)
	for i := 200; i < 400; i++ { // the jitter decreases
		r.AddPacket(&rtp.Header{SequenceNumber: uint16(i), Timestamp: uint32(i * 160)}, int64(i*160)+80, true)
	}
	assert.Less(t, r.Jitter(), 1.0)
	assert.InDelta(t, want, r.WorstJitter(), 0.001, "what was worst stays")
	r.ResetWorstJitter()
	assert.InDelta(t, r.Jitter(), r.WorstJitter(), 0.001)
	before := r.Jitter()
	r.AddPacket(&rtp.Header{SequenceNumber: 200, Timestamp: 900000}, 200*160, true)
	assert.InDelta(t, before, r.Jitter(), 0.001, "a new clock is no jitter")
}
