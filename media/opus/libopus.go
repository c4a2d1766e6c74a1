//go:build opus && cgo

package opus

/*
#cgo pkg-config: opus
#include <opus.h>

// callboard_prepare calls opus_encoder_ctl, which has variable arguments, so that cgo cannot call it directly.
static int callboard_prepare(OpusEncoder *e) {
	int failed = opus_encoder_ctl(e, OPUS_SET_BITRATE(24000));
	failed |= opus_encoder_ctl(e, OPUS_SET_COMPLEXITY(3));
	failed |= opus_encoder_ctl(e, OPUS_SET_SIGNAL(OPUS_SIGNAL_VOICE));
	failed |= opus_encoder_ctl(e, OPUS_SET_INBAND_FEC(1));
	failed |= opus_encoder_ctl(e, OPUS_SET_PACKET_LOSS_PERC(5));
	return failed;
}
*/
import "C"

import "unsafe"

// Available says whether this build supports Opus.
const Available = true

const rate = 8000

// Encoder encodes one stream. Not safe for concurrent use.
type Encoder struct{ c *C.OpusEncoder }

// NewEncoder returns an encoder for 8 kHz mono voice. If the library is out of memory, Encode writes nothing.
func NewEncoder() *Encoder {
	var failed C.int
	e := C.opus_encoder_create(rate, 1, C.OPUS_APPLICATION_VOIP, &failed)
	if failed == C.OPUS_OK && C.callboard_prepare(e) != C.OPUS_OK {
		C.opus_encoder_destroy(e)
		e = nil
	}
	return &Encoder{e}
}

// Encode encodes a frame of 10, 20 or 40 ms and returns the number of bytes, or 0 if encoding fails.
func (e *Encoder) Encode(dst []byte, pcm []int16) int {
	if e.c == nil || len(dst) == 0 || len(pcm) == 0 {
		return 0
	}
	n := C.opus_encode(e.c, (*C.opus_int16)(unsafe.Pointer(&pcm[0])), C.int(len(pcm)), (*C.uchar)(unsafe.Pointer(&dst[0])), C.opus_int32(min(len(dst), 400)))
	return max(int(n), 0)
}

// Close frees the library's memory.
func (e *Encoder) Close() {
	if e.c != nil {
		C.opus_encoder_destroy(e.c)
		e.c = nil
	}
}

// Decoder decodes one stream. Not safe for concurrent use.
type Decoder struct{ c *C.OpusDecoder }

// NewDecoder returns a decoder whose output is 8 kHz mono for any encoded bandwidth. If the library is out of
// memory, Decode returns nothing.
func NewDecoder() *Decoder {
	var failed C.int
	d := C.opus_decoder_create(rate, 1, &failed)
	return &Decoder{d}
}

// Decode decodes a packet and returns the number of samples, or 0 if the packet is invalid. dst must hold 120 ms.
func (d *Decoder) Decode(dst []int16, packet []byte) int {
	if d.c == nil || len(packet) == 0 || len(dst) == 0 {
		return 0
	}
	n := C.opus_decode(d.c, (*C.uchar)(unsafe.Pointer(&packet[0])), C.opus_int32(len(packet)), (*C.opus_int16)(unsafe.Pointer(&dst[0])), C.int(len(dst)), 0)
	return max(int(n), 0)
}

// Close frees the library's memory.
func (d *Decoder) Close() {
	if d.c != nil {
		C.opus_decoder_destroy(d.c)
		d.c = nil
	}
}
