package media

import (
	"net/netip"
	"time"

	"github.com/pion/rtp"

	"github.com/callboard/callboard/media/dtmf"
	"github.com/callboard/callboard/media/jitter"
	"github.com/callboard/callboard/media/reception"
	"github.com/callboard/callboard/media/sdp"
)

const (
	fewPackets = 2 // packets of the first read; seldom more than one has arrived
	looksMost  = 4 // further reads of batchLen packets per frame; the remaining packets wait, or the kernel drops them
)

// kind is the codec or format that an RTP payload type stands for.
type kind uint8

const (
	rtpVersion   = 2
	rtpHeaderLen = 12 // of sent packets
)

const (
	unknownKind kind = iota
	muKind
	aKind
	g722Kind
	opusKind
	noiseKind
	eventKind
)

// receiver is the RTP stream that the session receives: its single confirmed source address, its counters and its
// jitter buffer. source_learning.go determines the source address.
type receiver struct {
	confirmed netip.AddrPort // the source that is played, and the address that our audio is sent to; zero: no source is confirmed
	ssrc      uint32
	arrived   int64         // arrival of the last packet, by the wall clock
	heardAt   time.Duration // arrival of the last packet, on the engine's clock
	events    dtmf.Receiver
	buffer    jitter.Buffer
	count     reception.Receiver
	late      uint64
	refused   uint64
	samples   uint64
	kinds     [128]kind
	khz       [128]uint8 // clock rate per payload type
	open      bool       // SDP was agreed; earlier packets do not belong to this session
	proving   bool       // source has candidates
	source    *sourceSearch
}

func codecOf(k kind) Codec {
	switch k {
	case aKind:
		return PCMA
	case g722Kind:
		return G722
	case opusKind:
		return Opus
	case unknownKind, muKind, noiseKind, eventKind:
	}
	return PCMU
}

// isAudio says whether packets of a kind are audio. Only the timestamps of audio packets show the network's jitter.
func (k kind) isAudio() bool { return k >= muKind && k <= opusKind }

// setKind records which codec or format a payload type stands for.
func (r *receiver) setKind(f sdp.Format) {
	t := f.Type & 127
	switch f.Name {
	case "PCMU":
		r.kinds[t] = muKind
	case "PCMA":
		r.kinds[t] = aKind
	case "G722":
		r.kinds[t] = g722Kind
	case sdp.Opus:
		r.kinds[t] = opusKind
	case sdp.Noise:
		r.kinds[t] = noiseKind
	case sdp.Event:
		r.kinds[t] = eventKind
	}
	r.khz[t] = uint8(min(max(f.Clock/1000, 1), 255))
}

// clearKinds forgets the formats of all payload types except comfort noise. Its payload type is static, and some peers
// send it without negotiation.
func (r *receiver) clearKinds() {
	r.kinds = [128]kind{}
	r.setKind(sdp.Format{Type: 13, Name: sdp.Noise, Clock: sampleRate})
}

// readFirst reads the first packets of a frame from the RTP socket. Until SDP is agreed it reads nothing, because the
// packets do not belong to this session.
func (s *Session) readFirst(into *batch) (packets int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.in.open {
		return notRead
	}
	return s.sound.receive(into, fewPackets)
}

// receive processes the packets that readFirst read. If that batch was full, it reads and processes more.
func (s *Session) receive(c *clock) {
	from, n, most := c.first[c.at], c.got[c.at], fewPackets
	for looks := 1; n >= 0; looks++ {
		for i := range n {
			data, sender, arrived := from.packet(i)
			s.receivePacket(data, sender, arrived, c.now)
		}
		if n < most || looks == looksMost {
			return
		}
		from, most = c.in, batchLen
		n = s.sound.receive(from, most)
	}
}

// receivePacket decrypts a packet of the RTP socket, checks its source and processes it by its payload type.
func (s *Session) receivePacket(data []byte, from netip.AddrPort, arrived int64, now time.Duration) {
	data, ok := s.unseal(data, from, arrived, now)
	if !ok {
		return
	}
	var p rtp.Packet
	if p.Unmarshal(data) != nil || p.Version != rtpVersion {
		s.in.refuse(from, notRTP)
		return
	}
	k := s.in.kinds[p.PayloadType&127]
	if !s.acceptPacket(from, &p, k, arrived, now) {
		return
	}
	s.idle.setAlive(now)
	if k == opusKind {
		s.code.narrow(&p)
	}
	units := arrived / int64(time.Second/sampleRate)
	switch s.in.count.AddPacket(&p.Header, units, k.isAudio()) {
	case reception.Repeated:
		return
	case reception.NewSource:
		s.in.buffer.Reset()
		s.code.reset()
	case reception.Continues:
	}
	switch k {
	case unknownKind: // counted, because the packet has a sequence number
	case noiseKind:
		if len(p.Payload) > 0 {
			s.in.buffer.Noise(p.Timestamp, p.Payload[0])
		}
	case eventKind:
		s.receiveEvent(&p)
	case muKind, aKind, g722Kind, opusKind:
		s.in.events.AddAudioPacket(p.SequenceNumber)
		s.bufferAudio(&p, k)
	}
}

// bufferAudio puts audio into the jitter buffer and relays it over a bridge.
func (s *Session) bufferAudio(p *rtp.Packet, k kind) {
	if l := s.mixer.link; l != nil && !l.preview && k != opusKind { // the length of Opus packets is unknown here
		l.out.queuePacket(p, codecOf(k))
	}
	mu := s.code.decode(k, p.Payload)
	s.in.samples += uint64(len(mu))
	if s.in.buffer.Put(p.Timestamp, mu) == jitter.Late {
		s.in.late++
	}
}
