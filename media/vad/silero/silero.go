// Package silero detects speech with the neural network Silero VAD, version 6, at 8 kHz. It evaluates the network
// in Go with the weights of the original ONNX file and returns the same probabilities as the reference runtime,
// within 1e-3. Evaluation allocates no memory.
package silero

import "math"

// WindowLength is the number of samples of one window: 32 ms at 8 kHz.
const WindowLength = 256

// Shapes of the network for 8 kHz.
const (
	contextLength = 32  // samples of the window before that precede each window
	padding       = 32  // samples mirrored behind the window
	fftLength     = 128 // samples of one spectrum
	fftStep       = 64  // samples from one spectrum to the next
	frames        = 4   // spectra of a window
	bins          = 65  // frequencies of a spectrum
	binsPadded    = 72  // bins, rounded up to a multiple of lanes
	kernel        = 3   // spectra that one convolution sees
	hidden        = 128 // values of the recurrent state
)

// Detector is the network with the state of one audio stream. Not safe for concurrent use.
type Detector struct {
	network *network
	context [contextLength]float32
	hidden  [hidden]float32
	cell    [hidden]float32
}

// New returns a Detector at the beginning of an audio stream. All detectors share the weights. Errors: the embedded
// model file has not the expected layers.
func New() (*Detector, error) {
	n, err := loadNetwork()
	if err != nil {
		return nil, err
	}
	return &Detector{network: n}, nil
}

// Reset returns to the beginning of an audio stream.
func (d *Detector) Reset() { *d = Detector{network: d.network} }

// Probability returns the probability, from 0 to 1, that the window of 8 kHz samples, each from -1 to 1, contains
// speech. The windows of a stream must follow each other without gaps.
func (d *Detector) Probability(window *[WindowLength]float32) float32 {
	n := d.network
	var audio [contextLength + WindowLength + padding]float32
	copy(audio[:], d.context[:])
	copy(audio[contextLength:], window[:])
	for i, end := 0, contextLength+WindowLength; i < padding; i++ {
		audio[end+i] = audio[end-2-i]
	}
	copy(d.context[:], window[WindowLength-contextLength:])

	// Every buffer of a convolution starts and ends with a frame of zeros.
	var magnitudes [(frames + 2) * binsPadded]float32
	for f := range frames {
		magnitude(n, magnitudes[(f+1)*binsPadded:], audio[f*fftStep:f*fftStep+fftLength])
	}
	var first [(frames + 2) * 128]float32
	for f := range frames {
		n.encoder[0].convolve(first[(f+1)*128:(f+2)*128], magnitudes[f*binsPadded:])
	}
	var second [(frames/2 + 2) * 64]float32
	for f := range frames / 2 {
		n.encoder[1].convolve(second[(f+1)*64:(f+2)*64], first[2*f*128:])
	}
	var third [3 * 64]float32
	n.encoder[2].convolve(third[64:128], second[:])
	var input [2 * hidden]float32
	n.encoder[3].convolve(input[:hidden], third[:])
	copy(input[hidden:], d.hidden[:])

	var gates [4 * hidden]float32
	n.lstm.multiply(gates[:], input[:])
	var positive [hidden]float32
	for i := range hidden {
		in, forget, cell, out := gates[i], gates[hidden+i], gates[2*hidden+i], gates[3*hidden+i]
		d.cell[i] = sigmoid(forget)*d.cell[i] + sigmoid(in)*tanh(cell)
		d.hidden[i] = sigmoid(out) * tanh(d.cell[i])
		positive[i] = max(d.hidden[i], 0)
	}
	var result [rowsAtOnce]float32
	n.output.multiply(result[:], positive[:])
	return sigmoid(result[0])
}

// magnitude writes the magnitudes of the bins of fftLength samples.
func magnitude(n *network, out, samples []float32) {
	var spectrum [2*bins + 2]float32
	n.spectrum.multiply(spectrum[:], samples)
	for b := range bins {
		re, im := spectrum[b], spectrum[bins+b]
		out[b] = float32(math.Sqrt(float64(re*re + im*im)))
	}
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

func tanh(x float32) float32 { return float32(math.Tanh(float64(x))) }
