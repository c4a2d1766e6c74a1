package dtmf_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/media/dtmf"
)

// sender describes how a peer sends key presses of 100 ms, in packets of 20 ms.
type sender struct {
	name  string
	ends  []uint32 // timestamps of the end packets, relative to the last packet before them
	step  uint32   // timestamp increment per packet
	fixed bool     // one timestamp for all presses
	bare  bool     // no audio between presses
}

var senders = []sender{ //nolint:gochecknoglobals // a table
	{name: "as RFC 4733 says", ends: []uint32{0, 0, 0}},
	{name: "end packets with other timestamps", ends: []uint32{0, 160, 160}},
	{name: "a timestamp that moves in every packet", ends: []uint32{160, 320, 480}, step: 160},
	{name: "one timestamp for all presses", ends: []uint32{0, 0, 0}, fixed: true},
	{name: "no audio between presses", ends: []uint32{0, 0, 0}, bare: true},
	{name: "one end packet", ends: []uint32{0}},
}

// packet is a packet of the sender's RTP stream. A packet without a payload is audio.
type packet struct {
	dtmf.EventPacket
	at int // sending time in frames of 20 ms
}

const (
	pressPackets = 5  // packets per press before its end packets
	pressGap     = 10 // frames between two presses
)

// write returns the packets of key presses and of the audio between them. events lists the indexes of the event packets.
func (s sender) write(digits string) (packets []packet, events []int) {
	frame, seq := 0, uint16(65520)
	add := func(payload []byte, stamp uint32) {
		seq++
		if payload != nil {
			events = append(events, len(packets))
		}
		packets = append(packets, packet{dtmf.EventPacket{SSRC: 7, Timestamp: stamp, Seq: seq, Payload: payload}, frame})
	}
	audio := func(frames int) {
		for range frames {
			if !s.bare {
				add(nil, uint32(frame)*160)
			}
			frame++
		}
	}
	audio(3)
	begin := uint32(frame) * 160
	for i := range len(digits) {
		code, _ := dtmf.Code(digits[i])
		if !s.fixed {
			begin = uint32(frame) * 160
		}
		for n := range pressPackets {
			add(payload(code, false, uint16(160*(n+1))), begin+s.step*uint32(n))
			frame++
		}
		for _, offset := range s.ends {
			add(payload(code, true, 160*pressPackets), begin+s.step*(pressPackets-1)+offset)
		}
		audio(pressGap)
	}
	return packets, events
}

func payload(code uint8, end bool, duration uint16) []byte {
	b := make([]byte, dtmf.PayloadLen)
	dtmf.Event{Code: code, End: end, Volume: 10, Duration: duration}.Encode(b)
	return b
}

// hear passes packets to a receiver at their sending times and returns the reported keys.
func hear(packets []packet) (keys string) {
	var r dtmf.Receiver
	note := func(p dtmf.Press, ended bool) {
		if ended {
			keys += string(p.Key)
		}
	}
	frame := 0
	for _, p := range packets {
		for ; frame < p.at; frame++ {
			note(r.AdvanceTime(160))
		}
		if p.Payload == nil {
			r.AddAudioPacket(p.Seq)
		} else {
			note(r.AddEventPacket(p.EventPacket))
		}
	}
	for range 20 {
		note(r.AdvanceTime(160))
	}
	return keys
}

// sequences are the tested key presses, with different and repeated keys.
func sequences() []string { return []string{"46", "129", "1", "44", "1123", "*#0D"} }

func TestReceiverReadsDigitsOfEverySenderBehaviour(t *testing.T) {
	t.Parallel()
	for _, s := range senders {
		for _, digits := range sequences() {
			packets, _ := s.write(digits)
			assert.Equal(t, digits, hear(packets), "%s: %s", s.name, digits)
		}
	}
}

// The receiver must tolerate up to two lost, repeated or reordered packets per press.
func TestReceiverToleratesTwoLostRepeatedOrReorderedPackets(t *testing.T) {
	t.Parallel()
	for _, s := range senders {
		for _, digits := range []string{"46", "44"} {
			packets, events := s.write(digits)
			each := pressPackets + len(s.ends)
			for i := range events {
				for j := i; j < (i/each+1)*each; j++ { // of the same press
					a, b := events[i], events[j]
					what := s.name + ": " + digits + ", packets " + strconv.Itoa(a) + " and " + strconv.Itoa(b) + " "
					require.Equal(t, digits, hear(without(packets, a, b)), what+"lost")
					require.Equal(t, digits, hear(twice(packets, a, b)), what+"repeated")
				}
				for late := 1; late <= 2; late++ {
					what := s.name + ": " + digits + ", packet " + strconv.Itoa(events[i]) + " late by " + strconv.Itoa(late)
					require.Equal(t, digits, hear(delayed(packets, events[i], late)), what)
				}
			}
		}
	}
}

func without(packets []packet, lost ...int) (out []packet) {
	for i, p := range packets {
		if !slices.Contains(lost, i) {
			out = append(out, p)
		}
	}
	return out
}

func twice(packets []packet, repeated ...int) (out []packet) {
	for i, p := range packets {
		if out = append(out, p); slices.Contains(repeated, i) {
			out = append(out, p)
		}
	}
	return out
}

// delayed returns the packets with packet i moved behind the next by packets.
func delayed(packets []packet, i, by int) []packet {
	out := slices.Clone(packets)
	for ; by > 0 && i+1 < len(out); by-- {
		out[i], out[i+1] = out[i+1], out[i]
		out[i+1].at = out[i].at
		i++
	}
	return out
}

// The receiver must report a digit after a pause so long that the RTP sequence number has wrapped around.
func TestReceiverReadsDigitAfterAnyPause(t *testing.T) {
	t.Parallel()
	for _, gap := range []int{32_000, 32_768, 40_000, 65_530, 65_536} {
		first, _ := senders[0].write("4")
		again, _ := senders[0].write("4")
		last := first[len(first)-1]
		for i := range again {
			again[i].Seq += last.Seq - 65520 + uint16(gap)
			again[i].Timestamp += uint32(gap) * 160
			again[i].at += last.at + gap
		}
		assert.Equal(t, "44", hear(append(first, again...)), gap)
	}
}

func FuzzReceiver(f *testing.F) {
	f.Add([]byte{0, 1, 5, 0x80, 3, 0x20, 1, 2, 5, 0, 1, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		var r dtmf.Receiver
		packets, presses := 0, 0
		count := func(p dtmf.Press, ended bool) {
			if ended {
				presses++
				_, is := dtmf.Code(p.Key)
				require.True(t, is)
			}
		}
		for len(in) >= 6 {
			packets++
			count(r.AddEventPacket(dtmf.EventPacket{SSRC: uint32(in[0] % 2), Timestamp: uint32(in[0]) * 10, Seq: uint16(in[1]), Payload: in[2:6]}))
			if in[0]%3 == 0 {
				r.AddAudioPacket(uint16(in[1]) + 1)
				count(r.AdvanceTime(int(in[1]) * 10))
			}
			in = in[6:]
		}
		for range 4 {
			count(r.AdvanceTime(1200))
		}
		assert.LessOrEqual(t, presses, packets, "no packet makes two presses")
	})
}
