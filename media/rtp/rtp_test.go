package rtp_test

import (
	"testing"

	pion "github.com/pion/rtp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/rtp"
)

func TestHeadersAreThoseOfAnotherImplementation(t *testing.T) {
	p := rtp.Packet{Marker: true, Type: 101, Seq: 65535, Timestamp: 0xDEADBEEF, SSRC: 0xCAFEBABE}
	b := make([]byte, rtp.HeaderLen, 20)
	rtp.PutHeader(b, p)
	var theirs pion.Packet
	require.NoError(t, theirs.Unmarshal(append(b, "sound"...)))
	assert.Equal(t, pion.Header{Version: 2, Marker: true, PayloadType: 101, SequenceNumber: 65535, Timestamp: 0xDEADBEEF, SSRC: 0xCAFEBABE},
		theirs.Header)

	theirs.CSRC = []uint32{1, 2}
	theirs.Extension, theirs.ExtensionProfile = true, 0xBEDE
	require.NoError(t, theirs.SetExtension(1, []byte{7, 8, 9}))
	theirs.Padding, theirs.PaddingSize = true, 4
	raw, err := theirs.Marshal()
	require.NoError(t, err)
	ours, ok := rtp.Parse(raw)
	require.True(t, ok)
	p.Payload = []byte("sound")
	assert.Equal(t, p, ours)
}

func FuzzParse(f *testing.F) {
	f.Add([]byte{0x80, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0xFF})
	f.Add([]byte{0xB1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 2, 2})
	f.Fuzz(func(t *testing.T, b []byte) {
		ours, ok := rtp.Parse(b)
		var theirs pion.Packet
		if !ok || theirs.Unmarshal(b) != nil {
			return
		}
		assert.Equal(t, theirs.SequenceNumber, ours.Seq)
		assert.Equal(t, theirs.SSRC, ours.SSRC)
		assert.LessOrEqual(t, len(ours.Payload), len(b)-rtp.HeaderLen)
	})
}

func TestTheReceiverCountsLossRepeatsAndTheTurnOfTheSequence(t *testing.T) {
	var r rtp.Receiver
	at := int64(0)
	got := func(ssrc uint32, seq uint16) rtp.Verdict {
		at += 160
		return r.Got(&rtp.Packet{Seq: seq, SSRC: ssrc, Timestamp: uint32(at)}, at, true)
	}
	assert.Equal(t, rtp.Anew, got(1, 65533))
	assert.Equal(t, rtp.Next, got(1, 65534))
	assert.Equal(t, rtp.Repeated, got(1, 65534))
	assert.Equal(t, rtp.Next, got(1, 1), "65535 and 0 are missing")
	assert.Equal(t, rtp.Totals{Received: 3, Lost: 2, Repeated: 1}, r.Totals())
	report, ok := r.Report()
	require.True(t, ok)
	assert.Equal(t, rtp.Report{SSRC: 1, Fraction: 2 * 256 / 5, Lost: 2, Highest: 2<<16 | 1, Jitter: report.Jitter}, report)
	assert.Equal(t, rtp.Next, got(1, 0), "late is not lost")
	assert.Equal(t, rtp.Totals{Received: 4, Lost: 1, Repeated: 1}, r.Totals())
	assert.Equal(t, rtp.Anew, got(2, 9))
	assert.Equal(t, rtp.Anew, got(2, 30000))
	assert.Equal(t, rtp.Totals{Received: 6, Lost: 1, Repeated: 1}, r.Totals(), "earlier sources are kept")
}

func TestCopiesAreCountedApartHoweverLateTheyCome(t *testing.T) {
	var r rtp.Receiver
	for i := range 300 {
		p := rtp.Packet{Seq: uint16(65400 + i), SSRC: 1, Timestamp: uint32(i * 160)}
		if i == 150 {
			continue
		}
		r.Got(&p, int64(i*160), true)
		for _, back := range []int{0, 3, 63, 64, 120} {
			if i%10 == 0 && back <= i {
				p.Seq, p.Timestamp = uint16(65400+i-back), uint32((i-back)*160)
				assert.Equal(t, rtp.Repeated, r.Got(&p, int64(i*160), true), "%d after %d", back, i)
			}
		}
	}
	got := r.Totals()
	assert.Equal(t, rtp.Totals{Received: 299, Lost: 1, Repeated: got.Repeated}, got, "copies hide no loss")
	assert.Greater(t, got.Repeated, uint64(100))
	assert.Zero(t, r.Jitter(), "and are no jitter")
}

func TestJitterIsThatOfTheStandard(t *testing.T) {
	var r rtp.Receiver
	want := 0.0
	for i := range 200 {
		late := int64(i%2) * 80
		r.Got(&rtp.Packet{Seq: uint16(i), Timestamp: uint32(i * 160)}, int64(i*160)+late, true)
		if i > 0 {
			want += (80 - want) / 16
		}
	}
	assert.InDelta(t, want, r.Jitter(), 0.001)
	assert.InDelta(t, want, r.Worst(), 0.001)
	for i := 200; i < 400; i++ { // it calms down
		r.Got(&rtp.Packet{Seq: uint16(i), Timestamp: uint32(i * 160)}, int64(i*160)+80, true)
	}
	assert.Less(t, r.Jitter(), 1.0)
	assert.InDelta(t, want, r.Worst(), 0.001, "what was worst stays")
	r.Afresh()
	assert.InDelta(t, r.Jitter(), r.Worst(), 0.001)
	before := r.Jitter()
	r.Got(&rtp.Packet{Seq: 200, Timestamp: 900000}, 200*160, true)
	assert.InDelta(t, before, r.Jitter(), 0.001, "a new clock is no jitter")
}
