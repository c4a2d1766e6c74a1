package dtmf_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/dtmf"
)

// sent is the packet of a frame with its encoded payload. The payload is nil if the frame has no event.
type sent struct {
	dtmf.Packet
	payload []byte
}

// spell sends digits in frames of n samples and returns the packet of every frame.
func spell(t *testing.T, digits string, n int) []sent {
	t.Helper()
	var s dtmf.Sender
	require.True(t, s.Start(digits))
	var out []sent
	for stamp := uint32(0xFFFFF000); s.Busy(); stamp += uint32(n) {
		p, ok := s.Next(stamp, n)
		frame := sent{Packet: p}
		if ok {
			frame.payload = make([]byte, dtmf.PayloadLen)
			p.Event.Encode(frame.payload)
		}
		out = append(out, frame)
	}
	return out
}

func TestSenderFollowsRFC4733(t *testing.T) {
	frames := spell(t, "5", 160)
	stamp := uint32(0xFFFFF000)
	event := func(marker, end bool, duration uint16) dtmf.Packet {
		return dtmf.Packet{Event: dtmf.Event{Code: 5, End: end, Volume: 10, Duration: duration}, Timestamp: stamp, Marker: marker}
	}
	want := []dtmf.Packet{
		event(true, false, 160), event(false, false, 320), event(false, false, 480), event(false, false, 640),
		event(false, true, 800), event(false, true, 800), event(false, true, 800),
		{},
		{},
		{},
	}
	var got []dtmf.Packet
	for _, f := range frames {
		got = append(got, f.Packet)
	}
	assert.Equal(t, want, got)
	assert.Equal(t, []byte{5, 0x8A, 0x03, 0x20}, frames[4].payload)
}

func TestDigitsSurvivePacketLossAtEveryFrameLength(t *testing.T) {
	const digits = "0123456789*#ABCD"
	for _, n := range []int{80, 160, 240, 320} {
		for seed := range uint64(200) {
			way := rand.New(rand.NewPCG(seed, 1))
			got, _ := receive(spell(t, digits+"11", n), n, func(i int) (bool, bool) { return way.IntN(100) < 5, way.IntN(100) < 5 })
			require.Equal(t, digits+"11", got, "frames of %d, seed %d", n, seed)
		}
	}
}

func TestDigitWithoutEndPacketIsReportedOnce(t *testing.T) {
	got, lengths := receive(spell(t, "7", 160), 160, func(i int) (bool, bool) { return i >= 3, false })
	assert.Equal(t, "7", got)
	assert.Equal(t, []uint32{480}, lengths)
	got, _ = receive(spell(t, "77", 160), 160, func(i int) (bool, bool) { return i >= 4 && i <= 9, false })
	assert.Equal(t, "77", got, "the next begins before the patience ends")
	got, _ = receive(spell(t, "7", 160), 160, func(i int) (bool, bool) { return i < 6, false })
	assert.Equal(t, "7", got, "only the last end packet arrived")
}

// receive passes frames to a receiver through a network that drops and repeats packets as way says. It returns the
// reported keys with their durations. Frames without an event are audio.
func receive(frames []sent, n int, way func(i int) (lost, twice bool)) (keys string, lengths []uint32) {
	var r dtmf.Receiver
	hear := func(p dtmf.Press, ok bool) {
		if ok {
			keys += string(p.Key)
			lengths = append(lengths, p.Samples)
		}
	}
	for i, f := range frames {
		lost, twice := way(i)
		p := dtmf.EventPacket{SSRC: 1, Timestamp: f.Timestamp, Seq: uint16(i), Payload: f.payload}
		switch {
		case lost:
		case f.payload == nil:
			r.AddAudioPacket(p.Seq)
		default:
			hear(r.AddEventPacket(p))
			if twice {
				hear(r.AddEventPacket(p))
			}
		}
		hear(r.AdvanceTime(n))
	}
	for range 20 {
		hear(r.AdvanceTime(n))
	}
	return keys, lengths
}

func TestLongPressIsReportedOnce(t *testing.T) {
	var r dtmf.Receiver
	b := make([]byte, dtmf.PayloadLen)
	total, keys, seq := uint32(0), 0, uint16(65000)
	got := func(timestamp uint32) (dtmf.Press, bool) {
		seq++
		return r.AddEventPacket(dtmf.EventPacket{SSRC: 9, Timestamp: timestamp, Seq: seq, Payload: b})
	}
	hear := func(p dtmf.Press, ok bool) {
		if ok {
			total, keys = p.Samples, keys+1
		}
	}
	for at := uint32(160); at <= 160000; at += 160 {
		segment := (at - 1) / 0xFFFF
		if at/0xFFFF != (at-160)/0xFFFF { // the last report of the segment
			dtmf.Event{Code: 1, Duration: 0xFFFF}.Encode(b)
			hear(got((at/0xFFFF - 1) * 0xFFFF))
		}
		dtmf.Event{Code: 1, End: at == 160000, Duration: uint16(at - segment*0xFFFF)}.Encode(b)
		hear(got(segment * 0xFFFF))
		hear(r.AdvanceTime(160))
	}
	assert.Equal(t, 1, keys)
	assert.Equal(t, uint32(160000), total)
}

func TestSenderIgnoresOtherCharacters(t *testing.T) {
	var s dtmf.Sender
	assert.False(t, s.Start("xyz -()"))
	frames := spell(t, "1w-2", 160)
	assert.Len(t, frames, 10+25+10)
	var r dtmf.Receiver
	_, ok := r.AddEventPacket(dtmf.EventPacket{Payload: []byte{16, 0x80, 0, 1}})
	assert.False(t, ok, "a flash is no digit")
	_, ok = r.AddEventPacket(dtmf.EventPacket{Payload: []byte{1}})
	assert.False(t, ok)
}
