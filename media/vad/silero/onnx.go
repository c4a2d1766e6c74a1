package silero

import (
	"encoding/binary"
	"errors"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of the ONNX format (onnx.proto3).
const (
	modelGraph      = 7
	graphNode       = 1
	nodeOutput      = 2
	nodeAttribute   = 5
	attributeName   = 1
	attributeTensor = 5
	attributeGraph  = 6
	tensorDims      = 1
	tensorType      = 2
	tensorRaw       = 9
	typeFloat       = 1
)

// branch8k is the name of the branch of the model that evaluates audio of 8 kHz, and the prefix of its names.
const (
	branch8k = "else_branch"
	prefix8k = "If_0_else_branch__Inline_0__"
)

var errFormat = errors.New("not an ONNX file")

// tensor is a constant of the model.
type tensor struct {
	dims   []int
	values []float32
}

// size returns the number of values that the dimensions describe.
func (t tensor) size() int {
	size := 1
	for _, d := range t.dims {
		size *= d
	}
	return size
}

// field is one field of a protocol buffers message: number holds a varint, bytes a length-delimited value.
type field struct {
	num    protowire.Number
	number uint64
	bytes  []byte
}

// readFields returns the fields of a message. Fields of fixed length are skipped.
func readFields(message []byte) (all []field, err error) {
	for len(message) > 0 {
		num, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, errFormat
		}
		message = message[n:]
		f := field{num: num}
		switch kind { //nolint:exhaustive // all others have a fixed length or are groups
		case protowire.VarintType:
			f.number, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(num, kind, message)
		}
		if n < 0 {
			return nil, errFormat
		}
		message = message[n:]
		all = append(all, f)
	}
	return all, nil
}

// readTensors returns the float constants of the 8 kHz branch of a model by their names.
func readTensors(file []byte) (map[string]tensor, error) {
	model, err := readFields(file)
	if err != nil {
		return nil, err
	}
	all := map[string]tensor{}
	for _, f := range model {
		if f.num != modelGraph {
			continue
		}
		err = eachAttribute(f.bytes, func(_, name string, value field) error {
			if name != branch8k || value.num != attributeGraph {
				return nil
			}
			return eachAttribute(value.bytes, func(output, _ string, value field) error {
				if value.num != attributeTensor {
					return nil
				}
				t, ok, failed := readTensor(value.bytes)
				if ok {
					all[strings.TrimPrefix(output, prefix8k)] = t
				}
				return failed
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// eachAttribute calls do for the tensor and graph attributes of all nodes of a graph, with the node's output name and
// the attribute's name.
func eachAttribute(graph []byte, do func(output, name string, value field) error) error {
	nodes, err := readFields(graph)
	if err != nil {
		return err
	}
	for _, node := range nodes {
		if node.num != graphNode {
			continue
		}
		if err = eachAttributeOfNode(node.bytes, do); err != nil {
			return err
		}
	}
	return nil
}

func eachAttributeOfNode(node []byte, do func(output, name string, value field) error) error {
	fields, err := readFields(node)
	if err != nil {
		return err
	}
	var output string
	for _, f := range fields {
		if f.num == nodeOutput {
			output = string(f.bytes)
		}
	}
	for _, f := range fields {
		if f.num != nodeAttribute {
			continue
		}
		attribute, err := readFields(f.bytes)
		if err != nil {
			return err
		}
		var name string
		for _, a := range attribute {
			switch a.num { //nolint:exhaustive // the other fields are not used
			case attributeName:
				name = string(a.bytes)
			case attributeTensor, attributeGraph:
				if err = do(output, name, a); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// readTensor returns a tensor of floats; false: the tensor has values of another type.
func readTensor(message []byte) (t tensor, ok bool, err error) {
	fields, err := readFields(message)
	if err != nil {
		return t, false, err
	}
	for _, f := range fields {
		switch f.num { //nolint:exhaustive // the other fields are not used
		case tensorDims:
			if f.bytes == nil {
				t.dims = append(t.dims, int(f.number)) //nolint:gosec // checked against the expected shape
				continue
			}
			for packed := f.bytes; len(packed) > 0; {
				v, n := protowire.ConsumeVarint(packed)
				if n < 0 {
					return t, false, errFormat
				}
				t.dims, packed = append(t.dims, int(v)), packed[n:] //nolint:gosec // checked against the expected shape
			}
		case tensorType:
			ok = f.number == typeFloat
		case tensorRaw:
			t.values = make([]float32, len(f.bytes)/4)
			for i := range t.values {
				t.values[i] = math.Float32frombits(binary.LittleEndian.Uint32(f.bytes[4*i:]))
			}
		}
	}
	return t, ok, nil
}
