// Package g722 encodes and decodes ITU-T G.722 at 64 kbit/s. The methods Wide process both bands, at 16 kHz. The
// methods Narrow process the lower band only, at 8 kHz, which needs no resampling and half the CPU time. Names in
// capitals in comments are the blocks of the recommendation.
package g722

// Constant tables of ITU-T G.722.
var (
	qm2 = [4]int32{-7408, -1616, 7408, 1616}
	qm4 = [16]int32{0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0}
	qm6 = [64]int32{
		-136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360, -8576, -7856,
		-7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688, -1360, -1040, -728,
		24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192, 6576, 6000, 5456,
		4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432, -136,
	}
	q6 = [30]int32{
		0, 35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650,
		714, 786, 858, 940, 1023, 1121, 1219, 1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919,
	}
	ilb = [32]int32{
		2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834,
		2896, 2960, 3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
	}
	// Change of the logarithmic step size for each code: table WL by RL42 in the lower band, WH by RH2 in the higher band.
	lowStep  = [16]int32{-60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60}
	highStep = [4]int32{798, -214, 798, -214}
	qmf      = [12]int32{3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11}
)

const (
	lowMost, lowShift   = 18432, 8
	highMost, highShift = 22528, 10
	history             = 24 // samples that the band filters look at
)

// band is the codec state of one half of the spectrum: the step size, and the predictor with two poles and six zeros.
type band struct {
	guess int32 // S: prediction of the next sample
	zeros int32 // SZ: contribution of the zeros to the prediction
	nb    int32 // logarithm of the step
	step  int32 // DET
	r     [2]int32
	p     [2]int32
	a     [2]int32
	d     [6]int32
	b     [6]int32
}

func saturate(v int32) int32 { return min(max(v, -32768), 32767) }

// rescale adapts the step size to a code: blocks LOGSCL and SCALEL, or LOGSCH and SCALEH.
func (b *band) rescale(by, most, shift int32) {
	b.nb = min(max(b.nb*127>>7+by, 0), most)
	v := ilb[b.nb>>6&31]
	if down := shift - b.nb>>11; down < 0 {
		v <<= -down
	} else {
		v >>= down
	}
	b.step = v << 2
}

// adapt updates the predictor by the quantized difference d: blocks RECONS, PARREC, UPPOL2, UPPOL1, UPZERO, DELAYA,
// FILTEP, FILTEZ and PREDIC.
func (b *band) adapt(d int32) {
	r, p := saturate(b.guess+d), saturate(b.zeros+d)
	same1, same2 := (p^b.p[0]) >= 0, (p^b.p[1]) >= 0

	w := saturate(b.a[0] << 2)
	if same1 {
		w = min(-w, 32767)
	}
	a2 := w>>7 - 128
	if same2 {
		a2 += 256
	}
	a2 = min(max(a2+b.a[1]*32512>>15, -12288), 12288)
	a1 := b.a[0]*32640>>15 - 192
	if same1 {
		a1 += 384
	}
	bound := saturate(15360 - a2)
	a1 = min(max(saturate(a1), -bound), bound)

	zeros := int32(0)
	for i := 5; i >= 0; i-- {
		v := b.b[i] * 32640 >> 15
		if d != 0 {
			if d^b.d[i] >= 0 {
				v += 128
			} else {
				v -= 128
			}
		}
		b.b[i] = saturate(v)
		if i > 0 {
			b.d[i] = b.d[i-1] // after the sign above, which belongs to the former difference of this coefficient
		} else {
			b.d[0] = d
		}
	}
	for i := range b.d {
		zeros += b.b[i] * saturate(2*b.d[i]) >> 15
	}
	b.zeros = saturate(zeros)
	b.r, b.p, b.a = [2]int32{r, b.r[0]}, [2]int32{p, b.p[0]}, [2]int32{a1, a2}
	poles := saturate(a1*saturate(2*b.r[0])>>15 + a2*saturate(2*b.r[1])>>15)
	b.guess = saturate(poles + b.zeros)
}

// writeLow encodes a sample of the lower band with six bits (block QUANTL) and adapts the band to the code.
func (b *band) writeLow(x int32) byte {
	e := saturate(x - b.guess)
	size := e ^ e>>31
	low, high := int32(1), int32(len(q6))
	for low < high {
		if mid := (low + high) / 2; q6[mid]*b.step>>12 > size {
			high = mid
		} else {
			low = mid + 1
		}
	}
	code := 62 - low // ILP: 61 down to 32
	if e < 0 {
		code = 34 - low // ILN: 31 down to 4, after two escapes
		if low < 3 {
			code = 64 - low
		}
	}
	b.followLow(code)
	return byte(code) // six bits
}

// readLow decodes six bits of the lower band: blocks INVQBL and LIMIT.
func (b *band) readLow(code byte) int32 {
	v := min(max(b.guess+b.step*qm6[code&63]>>15, -16384), 16383)
	b.followLow(int32(code & 63))
	return v
}

// followLow adapts the lower band to a code. It ignores the two lowest of the six bits, so that the decoder also stays
// synchronous with encoders that use these bits for data.
func (b *band) followLow(code int32) {
	d := b.step * qm4[code>>2] >> 15
	b.rescale(lowStep[code>>2], lowMost, lowShift)
	b.adapt(d)
}

// writeHigh encodes a sample of the higher band with two bits: block QUANTH.
func (b *band) writeHigh(x int32) byte {
	e := saturate(x - b.guess)
	code := byte(3)
	if e < 0 {
		code = 1
	}
	if e^e>>31 >= 564*b.step>>12 {
		code--
	}
	b.followHigh(code)
	return code
}

func (b *band) readHigh(code byte) int32 {
	v := min(max(b.guess+b.step*qm2[code&3]>>15, -16384), 16383)
	b.followHigh(code)
	return v
}

func (b *band) followHigh(code byte) {
	d := b.step * qm2[code&3] >> 15
	b.rescale(highStep[code&3], highMost, highShift)
	b.adapt(d)
}

// Encoder encodes one stream; create it with NewEncoder. Not safe for concurrent use.
type Encoder struct {
	low, high band
	x         [history]int32
}

// NewEncoder returns an encoder for a new stream.
func NewEncoder() *Encoder { return &Encoder{low: band{step: 32}, high: band{step: 8}} }

// Wide encodes pairs of 16 kHz samples; dst takes a byte per pair. Wide returns the number of bytes written.
func (c *Encoder) Wide(dst []byte, pcm []int16) int {
	n := min(len(pcm)/2, len(dst))
	for i := range n {
		copy(c.x[:], c.x[2:])
		c.x[history-2], c.x[history-1] = int32(pcm[2*i]), int32(pcm[2*i+1])
		even, odd := int32(0), int32(0)
		for k, q := range qmf {
			odd += c.x[2*k] * q
			even += c.x[2*k+1] * qmf[len(qmf)-1-k]
		}
		dst[i] = c.low.writeLow((even+odd)>>14) | c.high.writeHigh((even-odd)>>14)<<6
	}
	return n
}

// Narrow encodes 8 kHz samples as the lower band, with an empty higher band; dst takes a byte per sample. Narrow
// returns the number of bytes written.
func (c *Encoder) Narrow(dst []byte, pcm []int16) int {
	n := min(len(pcm), len(dst))
	for i, v := range pcm[:n] {
		dst[i] = c.low.writeLow(int32(v)>>1) | c.high.writeHigh(0)<<6
	}
	return n
}

// Decoder decodes one stream; create it with NewDecoder. Not safe for concurrent use.
type Decoder struct {
	low, high band
	x         [history]int32
}

// NewDecoder returns a decoder for a new stream.
func NewDecoder() *Decoder { return &Decoder{low: band{step: 32}, high: band{step: 8}} }

// Wide decodes to 16 kHz, two samples per byte. Wide returns the number of samples written.
func (c *Decoder) Wide(dst []int16, code []byte) int {
	n := min(len(code), len(dst)/2)
	for i, b := range code[:n] {
		low, high := c.low.readLow(b), c.high.readHigh(b>>6)
		copy(c.x[:], c.x[2:])
		c.x[history-2], c.x[history-1] = low+high, low-high
		first, second := int32(0), int32(0)
		for k, q := range qmf {
			second += c.x[2*k] * q
			first += c.x[2*k+1] * qmf[len(qmf)-1-k]
		}
		dst[2*i] = int16(saturate(first >> 11))    //nolint:gosec // saturated
		dst[2*i+1] = int16(saturate(second >> 11)) //nolint:gosec // saturated
	}
	return 2 * n
}

// Narrow decodes the lower band to 8 kHz, a sample per byte. Narrow returns the number of samples written.
func (c *Decoder) Narrow(dst []int16, code []byte) int {
	n := min(len(code), len(dst))
	for i, b := range code[:n] {
		dst[i] = int16(saturate(c.low.readLow(b) << 1)) //nolint:gosec // saturated
	}
	return n
}
