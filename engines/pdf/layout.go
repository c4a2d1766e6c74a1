package pdf

import (
	"math"
	"strings"
	"unicode"

	"github.com/ledongthuc/pdf"
)

// ligatures maps glyphs that stand for several letters to the letters, because searches use separate letters.
var ligatures = map[rune]string{'ﬀ': "ff", 'ﬁ': "fi", 'ﬂ': "fl", 'ﬃ': "ffi", 'ﬄ': "ffl", 'ﬅ': "st", 'ﬆ': "st"} //nolint:gochecknoglobals // a table

// matrix is a coordinate transformation with the six numbers a b c d e f of ISO 32000-1 §8.3.3.
type matrix [6]float64

var unit = matrix{1, 0, 0, 1, 0, 0} //nolint:gochecknoglobals // a constant

func matrixOf(at func(int) float64) (m matrix) {
	for i := range m {
		m[i] = at(i)
	}
	return m
}

func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is the part of the PDF graphics state that determines the position of text.
type state struct {
	font                *font
	size, wide, leading float64
	letters, words      float64 // additional space between letters and words
	at, line, ctm       matrix
}

// layout joins the text fragments of a page to lines. A PDF page contains only the position of each fragment.
type layout struct {
	state

	saved []state
	fonts map[string]*font
	out   strings.Builder
	most  int // maximum length of the text in bytes

	begun         bool
	endX, lastY   float64 // end of the last piece
	height, depth float64 // height of the last piece; its distance from the line before
}

// Limits for the distances between text fragments, as multiples of the font size, and limits of other values.
const (
	sameLine  = 0.4
	nextLine  = 1.7
	wordGap   = 0.15
	standard  = 500 // width of a letter without a known width, in 1/1000
	maxNested = 64  // nested graphics states
)

// do executes one operator of a page's content stream. It ignores operators that do not affect the position of text.
func (l *layout) do(op string, args []pdf.Value) {
	number := func(i int) float64 {
		if i < len(args) {
			return args[i].Float64()
		}
		return 0
	}
	switch op {
	case "q":
		if len(l.saved) < maxNested {
			l.saved = append(l.saved, l.state)
		}
	case "Q":
		if n := len(l.saved) - 1; n >= 0 {
			l.state, l.saved = l.saved[n], l.saved[:n]
		}
	case "cm":
		l.ctm = matrixOf(number).times(l.ctm)
	case "BT":
		l.at, l.line = unit, unit
	case "Tc":
		l.letters = number(0)
	case "Tw":
		l.words = number(0)
	case "Tz":
		l.wide = number(0) / 100
	case "TL":
		l.leading = number(0)
	case "Tm":
		l.line = matrixOf(number)
		l.at = l.line
	case "TD":
		l.leading = -number(1)
		l.move(number(0), number(1))
	case "Td":
		l.move(number(0), number(1))
	case "T*":
		l.move(0, -l.leading)
	case "Tj":
		l.show(args)
	case "'":
		l.move(0, -l.leading)
		l.show(args)
	case `"`:
		l.words, l.letters = number(0), number(1)
		l.move(0, -l.leading)
		l.show(args[min(2, len(args)):])
	case "TJ":
		if len(args) == 1 {
			l.row(args[0])
		}
	}
}

func (l *layout) move(x, y float64) {
	l.line = matrix{1, 0, 0, 1, x, y}.times(l.line)
	l.at = l.line
}

func (l *layout) row(all pdf.Value) {
	for i := range all.Len() {
		if x := all.Index(i); x.Kind() == pdf.String {
			l.piece(x.RawString())
		} else {
			l.at = matrix{1, 0, 0, 1, -x.Float64() / 1000 * l.size * l.wide, 0}.times(l.at)
		}
	}
}

func (l *layout) show(args []pdf.Value) {
	if len(args) == 1 {
		l.piece(args[0].RawString())
	}
}

// piece adds a text fragment at the current position.
func (l *layout) piece(raw string) {
	text, width, glyphs, spaces := l.font.decode(raw)
	length := (width/1000*l.size + glyphs*l.letters + spaces*l.words) * l.wide
	place := l.at.times(l.ctm)
	across := math.Hypot(place[0], place[1])
	tall := math.Abs(l.size) * math.Hypot(place[2], place[3])
	x, y := place[4], place[5]
	l.at = matrix{1, 0, 0, 1, length, 0}.times(l.at)
	if text == "" {
		return
	}
	if l.begun {
		l.out.WriteString(l.between(x, y, tall, text))
	}
	if l.out.Len()+len(text) > l.most {
		panic(ErrText)
	}
	l.out.WriteString(text)
	l.begun, l.endX, l.lastY, l.height = true, x+length*across, y, tall
}

// between returns the space or line break between the last fragment and a fragment that starts at x, y with the height
// tall.
func (l *layout) between(x, y, tall float64, text string) string {
	down := l.lastY - y
	size := max(tall, l.height, 1e-6)
	if math.Abs(down) > sameLine*size {
		usual := l.depth
		if down > 0 {
			l.depth = down
		}
		if down < 0 || down > nextLine*size || usual > 0 && down > 1.35*usual || tall > 0 && math.Abs(tall-l.height) > 0.15*size {
			l.depth = 0
			return "\n\n"
		}
		return "\n"
	}
	gap := x - l.endX
	if (gap > wordGap*size || gap < -size) && !strings.HasSuffix(l.out.String(), " ") && !strings.HasPrefix(text, " ") {
		return " "
	}
	return ""
}

// text returns the text of the page without control characters and soft hyphens, and with ligatures replaced.
func (l *layout) text() string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(l.out.String(), "") {
		switch {
		case r == '\n' || r == ' ' || r == '\t':
			b.WriteRune(r)
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case ligatures[r] != "":
			b.WriteString(ligatures[r])
		case r == '\u00ad' || unicode.IsControl(r): // also soft hyphens
		default:
			b.WriteRune(r)
		}
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.Join(strings.Fields(lines[i]), " ")
		if strings.HasPrefix(lines[i], "#") {
			lines[i] = "\\" + lines[i] // the page's own "#" is not a heading
		}
	}
	return strings.Join(lines, "\n")
}
