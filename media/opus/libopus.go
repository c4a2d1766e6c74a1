//go:build opus && cgo

package opus

/*
#cgo pkg-config: opus
#include <opus.h>

// The control function takes its arguments as C does: cgo cannot call it.
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

// Available says whether this build speaks Opus.
const Available = true

const rate = 8000

// Encoder writes one stream. It is not for concurrent use.
type Encoder struct{ c *C.OpusEncoder }

// NewEncoder begins a stream of 8 kHz mono voice. Where the library has no memory left, it writes nothing.
func NewEncoder() *Encoder {
	var failed C.int
	e := C.opus_encoder_create(rate, 1, C.OPUS_APPLICATION_VOIP, &failed)
	if failed == C.OPUS_OK && C.callboard_prepare(e) != C.OPUS_OK {
		C.opus_encoder_destroy(e)
		e = nil
	}
	return &Encoder{e}
}

// Encode writes a frame of 10, 20 or 40 ms and returns how many bytes it took; 0: it failed.
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

// Decoder reads one stream. It is not for concurrent use.
type Decoder struct{ c *C.OpusDecoder }

// NewDecoder begins a stream, given out as 8 kHz mono whatever it was coded at. Where the library has no memory left, it
// reads nothing.
func NewDecoder() *Decoder {
	var failed C.int
	d := C.opus_decoder_create(rate, 1, &failed)
	return &Decoder{d}
}

// Decode reads a packet and returns how many samples it gave; 0: it is none. dst must hold 120 ms.
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
