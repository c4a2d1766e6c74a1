package silero

// A matrix is stored with rows and columns rounded up, by zeros, to what the multiplication handles at once.
const (
	rowsAtOnce = 4
	lanes      = 8
)

// layer is a matrix of the network with its bias.
type layer struct {
	rows, columns int
	matrix        []float32 // row after row
	bias          []float32 // one value a row
}

// newLayer returns a layer of zeros that has at least these rows and columns.
func newLayer(rows, columns int) layer {
	rows, columns = roundUp(rows, rowsAtOnce), roundUp(columns, lanes)
	return layer{rows, columns, make([]float32, rows*columns), make([]float32, rows)}
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// multiply writes matrix · x + bias to out. out has a value for each row, x at least one for each column.
func (l *layer) multiply(out, x []float32) {
	out, x = out[:l.rows], x[:l.columns]
	copy(out, l.bias)
	multiplyAdd(out, l.matrix, x)
}

// convolve is multiply, with negative results set to zero.
func (l *layer) convolve(out, x []float32) {
	l.multiply(out, x)
	for i, v := range out {
		out[i] = max(v, 0)
	}
}

// multiplyAddGo adds matrix · x to out. It is the portable form of multiplyAdd.
func multiplyAddGo(out, matrix, x []float32) {
	n := len(x)
	for r := 0; r < len(out); r += rowsAtOnce {
		a, b, c, d := matrix[r*n:][:n], matrix[(r+1)*n:][:n], matrix[(r+2)*n:][:n], matrix[(r+3)*n:][:n]
		var sa, sb, sc, sd float32
		for i, v := range x {
			sa += a[i] * v
			sb += b[i] * v
			sc += c[i] * v
			sd += d[i] * v
		}
		out[r] += sa
		out[r+1] += sb
		out[r+2] += sc
		out[r+3] += sd
	}
}
