package media

import (
	"github.com/pion/rtp"

	"github.com/callboard/callboard/media/g711"
	"github.com/callboard/callboard/media/g722"
	"github.com/callboard/callboard/media/opus"
	"github.com/callboard/callboard/media/sdp"
)

const (
	wideScale  = 6    // ratio of 48 kHz to sampleRate
	soundMost  = 1024 // maximum of samples in a packet, 128 ms
	lullAfter  = 1600 // samples: 200 ms of silence before comfort noise is sent
	lullEvery  = 1600 // samples between two comfort noise packets
	lullLevel  = 68   // -dBov of the comfort noise that is sent
	wideOffset = 1 << 40
)

// format returns the SDP format of the codec. Its payload type is the one in our offers.
func (c Codec) format() sdp.Format {
	return [...]sdp.Format{
		PCMU: {Type: 0, Name: "PCMU", Clock: 8000},
		PCMA: {Type: 8, Name: "PCMA", Clock: 8000},
		G722: {Type: 9, Name: "G722", Clock: 8000},
		Opus: {Type: 107, Name: sdp.Opus, Clock: 48000, Channels: 2, Params: "maxplaybackrate=8000;sprop-maxcapturerate=8000;useinbandfec=1"},
	}[c&3]
}

// supportedCodecs returns the given codecs that this build supports. If there are none, it returns PCMU and PCMA.
func supportedCodecs(codecs []Codec) []Codec {
	var out []Codec
	for _, c := range codecs {
		if c < Opus || c == Opus && opus.Available {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return []Codec{PCMU, PCMA}
	}
	return out
}

func codecNamed(name string) Codec {
	switch name {
	case "PCMA":
		return PCMA
	case "G722":
		return G722
	case sdp.Opus:
		return Opus
	}
	return PCMU
}

// codecState is the state of a session's encoders and decoders. G.711 needs no state.
type codecState struct {
	narrowOut *g722.Encoder
	narrowIn  *g722.Decoder
	opusOut   *opus.Encoder
	opusIn    *opus.Decoder
	pcm       []int16
	mu        []byte
	lull      int  // samples of silence so far
	resumed   bool // audio follows comfort noise, so the packet gets the RTP marker
	wide      int64
}

// prepare allocates the encoder and decoder of a codec in advance, so that processing a frame allocates nothing.
func (c *codecState) prepare(codec Codec) {
	switch codec {
	case G722:
		if c.narrowOut == nil {
			c.narrowOut, c.narrowIn = g722.NewEncoder(), g722.NewDecoder()
		}
	case Opus:
		if c.opusOut == nil {
			c.opusOut, c.opusIn = opus.NewEncoder(), opus.NewDecoder()
		}
	case PCMU, PCMA:
		return
	}
	if c.pcm == nil {
		c.pcm, c.mu = make([]int16, soundMost), make([]byte, soundMost)
	}
}

// close frees the memory of the Opus library.
func (c *codecState) close() {
	if c.opusOut != nil {
		c.opusOut.Close()
		c.opusIn.Close()
		c.opusOut, c.opusIn = nil, nil
	}
}

// reset resets the G.722 decoder, because the audio now comes from another source.
func (c *codecState) reset() {
	if c.narrowIn != nil {
		*c.narrowIn = *g722.NewDecoder()
	}
}

// encode encodes a frame with the agreed codec, or as comfort noise in a pause. It returns the RTP payload type and the
// payload length; with length 0 nothing is sent. noise.Name is empty if no comfort noise was agreed.
func (c *codecState) encode(dst, right []byte, o *sender, noise *sdp.Format) (payloadType uint8, octets int) {
	if noise.Name != "" && c.isLull(right) {
		if past := c.lull - lullAfter; past > len(right) && past%lullEvery >= len(right) {
			return 0, 0
		}
		dst[0] = lullLevel
		return noise.Type, 1
	}
	switch o.codec {
	case PCMU:
		return o.kind, copy(dst, right)
	case PCMA:
		g711.MuToA(dst[:len(right)], right)
		return o.kind, len(right)
	case G722:
		return o.kind, c.narrowOut.Narrow(dst, c.linear(right))
	case Opus:
		return o.kind, c.opusOut.Encode(dst, c.linear(right))
	}
	return o.kind, 0
}

// isLull says whether the frame belongs to a pause of at least 200 ms, in which the session sends comfort noise.
func (c *codecState) isLull(right []byte) bool {
	if silent(right) {
		c.lull, c.resumed = c.lull+len(right), false
	} else {
		c.resumed, c.lull = c.lull > lullAfter, 0
	}
	return c.lull > lullAfter
}

// linear decodes µ-law to linear samples in the session's scratch buffer.
func (c *codecState) linear(mu []byte) []int16 {
	pcm := c.pcm[:len(mu)]
	for i, b := range mu {
		pcm[i] = g711.MuToLinear(b)
	}
	return pcm
}

// decode decodes a packet's audio to 8 kHz µ-law, in place or in the session's scratch buffer.
func (c *codecState) decode(k kind, payload []byte) []byte {
	if len(payload) > soundMost {
		return nil
	}
	n := 0
	switch k {
	case muKind:
		return payload
	case aKind:
		g711.AToMu(payload, payload)
		return payload
	case g722Kind:
		n = c.narrowIn.Narrow(c.pcm, payload)
	case opusKind:
		n = c.opusIn.Decode(c.pcm, payload)
	case unknownKind, eventKind, noiseKind:
		return nil
	}
	for i, v := range c.pcm[:n] {
		c.mu[i] = g711.LinearToMu(v)
	}
	return c.mu[:n]
}

// narrow converts an RTP timestamp of a 48 kHz clock to 8 kHz, also across wraparounds.
func (c *codecState) narrow(p *rtp.Packet) {
	if c.wide == 0 {
		c.wide = wideOffset
	}
	c.wide += int64(int32(p.Timestamp - uint32(c.wide))) //nolint:gosec // modular
	p.Timestamp = uint32(c.wide / wideScale)             //nolint:gosec // modular
}

func silent(mu []byte) bool {
	for _, b := range mu {
		if b|0x80 != g711.MuSilence {
			return false
		}
	}
	return true
}
