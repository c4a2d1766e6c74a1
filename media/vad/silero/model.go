package silero

import (
	_ "embed"
	"fmt"
	"sync"
)

// modelFile is the file silero_vad_v6.onnx of the npm package @ricky0123/vad-web, unchanged. LICENSE has the terms.
//
//go:embed silero_vad.onnx
var modelFile []byte

// network holds the weights for 8 kHz. All detectors share it and only read it.
type network struct {
	spectrum layer // Fourier transform: rows are the real parts of all bins, then the imaginary parts
	encoder  [4]layer
	lstm     layer // columns: input, hidden state; rows: input, forget, cell and output gates
	output   layer
}

// loadNetwork returns the network of the embedded file. Its first call reads the file.
var loadNetwork = sync.OnceValues(func() (*network, error) { return parseNetwork(modelFile) })

// parseNetwork returns the network of an ONNX file. Errors: the file is damaged or has other layers.
func parseNetwork(file []byte) (*network, error) {
	tensors, err := readTensors(file)
	if err != nil {
		return nil, fmt.Errorf("silero: model file: %w", err)
	}
	r := tensorReader{tensors: tensors}
	n := &network{
		spectrum: r.layer("stft.forward_basis_buffer", "", convolution{2 * bins, 1, fftLength, 1}),
		encoder: [4]layer{
			r.layer("encoder.0.reparam_conv.weight", "encoder.0.reparam_conv.bias", convolution{128, bins, kernel, binsPadded}),
			r.layer("encoder.1.reparam_conv.weight", "encoder.1.reparam_conv.bias", convolution{64, 128, kernel, 128}),
			r.layer("encoder.2.reparam_conv.weight", "encoder.2.reparam_conv.bias", convolution{64, 64, kernel, 64}),
			r.layer("encoder.3.reparam_conv.weight", "encoder.3.reparam_conv.bias", convolution{hidden, 64, kernel, 64}),
		},
		lstm:   r.lstm(),
		output: r.layer("decoder.decoder.2.weight", "decoder.decoder.2.bias", convolution{1, hidden, 1, hidden}),
	}
	return n, r.err
}

// tensorReader builds layers from tensors. err is its first failure.
type tensorReader struct {
	tensors map[string]tensor
	err     error
}

// values returns the tensor of a name, which must have these dimensions.
func (r *tensorReader) values(name string, dims ...int) []float32 {
	t := r.tensors[name]
	if size := t.size(); len(t.dims) == len(dims) && size == len(t.values) {
		same := true
		for i, d := range dims {
			same = same && t.dims[i] == d
		}
		if same {
			return t.values
		}
	}
	if r.err == nil {
		r.err = fmt.Errorf("silero: model file: tensor %s has dimensions %v instead of %v", name, t.dims, dims)
	}
	size := 1
	for _, d := range dims {
		size *= d
	}
	return make([]float32, size)
}

// convolution is the shape of a convolution: output values, input values of a frame, frames that it sees, and the
// length of a frame in the buffer.
type convolution struct{ outputs, inputs, frames, frameLength int }

// layer returns a convolution as a matrix over the consecutive frames. bias "": none.
func (r *tensorReader) layer(weight, bias string, c convolution) layer {
	w := r.values(weight, c.outputs, c.inputs, c.frames)
	l := newLayer(c.outputs, c.frames*c.frameLength)
	for o := range c.outputs {
		for i := range c.inputs {
			for f := range c.frames {
				l.matrix[o*l.columns+f*c.frameLength+i] = w[(o*c.inputs+i)*c.frames+f]
			}
		}
	}
	if bias != "" {
		copy(l.bias, r.values(bias, c.outputs))
	}
	return l
}

// lstm returns the recurrent layer as one matrix over the input and the hidden state.
func (r *tensorReader) lstm() layer {
	l := newLayer(4*hidden, 2*hidden)
	input, state := r.values("decoder.rnn.weight_ih", 4*hidden, hidden), r.values("decoder.rnn.weight_hh", 4*hidden, hidden)
	for row := range 4 * hidden {
		copy(l.matrix[row*l.columns:], input[row*hidden:(row+1)*hidden])
		copy(l.matrix[row*l.columns+hidden:], state[row*hidden:(row+1)*hidden])
	}
	for row, v := range r.values("decoder.rnn.bias_ih", 4*hidden) {
		l.bias[row] = v
	}
	for row, v := range r.values("decoder.rnn.bias_hh", 4*hidden) {
		l.bias[row] += v
	}
	return l
}
