package pdf

import (
	"strings"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// font maps the character codes of a PDF font to text and to glyph widths.
type font struct {
	encoding pdf.TextEncoding
	widths   map[int]float64 // by code, in 1/1000 of the font size
	other    float64
	bytes    int // length of a code in bytes
}

// Limits of the number of fonts of a page and of the number of widths of a font.
const (
	maxFonts  = 256
	maxWidths = 1 << 16
)

// fontOf returns the font that a PDF value describes. It reads each font once per page.
func (l *layout) fontOf(v pdf.Value) *font {
	key := v.String()
	if f := l.fonts[key]; f != nil {
		return f
	}
	f := &font{encoding: (&pdf.Font{V: v}).Encoder(), widths: make(map[int]float64), other: standard, bytes: 1}
	if v.Key("Subtype").Name() == "Type0" {
		f.composite(v.Key("DescendantFonts").Index(0))
	} else {
		first := int(v.Key("FirstChar").Int64())
		widths := v.Key("Widths")
		for i := range min(widths.Len(), 256) {
			f.widths[first+i] = widths.Index(i).Float64()
		}
		if m := v.Key("FontMatrix"); m.Len() == 6 { // a Type 3 font has its own units
			for code := range f.widths {
				f.widths[code] *= 1000 * m.Index(0).Float64()
			}
		}
	}
	if len(l.fonts) < maxFonts {
		l.fonts[key] = f
	}
	return f
}

// composite reads the glyph widths of a composite font (ISO 32000-1 §9.7.4.3). The array has entries of the form
// c [w1 w2 …] or c1 c2 w.
func (f *font) composite(v pdf.Value) {
	f.bytes, f.other = 2, 1000
	if dw := v.Key("DW"); dw.Kind() == pdf.Integer || dw.Kind() == pdf.Real {
		f.other = dw.Float64()
	}
	w := v.Key("W")
	for i := 0; i+1 < w.Len(); {
		first := int(w.Index(i).Int64())
		if list := w.Index(i + 1); list.Kind() == pdf.Array {
			for j := range list.Len() {
				f.width(first+j, list.Index(j).Float64())
			}
			i += 2
			continue
		}
		for code := first; code <= min(int(w.Index(i+1).Int64()), first+maxWidths); code++ {
			f.width(code, w.Index(i+2).Float64())
		}
		i += 3
	}
}

func (f *font) width(code int, w float64) {
	if len(f.widths) < maxWidths {
		f.widths[code] = w
	}
}

// decode returns the text of a string of character codes, its width, and the numbers of its glyphs and spaces.
func (f *font) decode(raw string) (text string, width, glyphs, spaces float64) {
	if f == nil {
		return "", 0, 0, 0
	}
	for i := 0; i+f.bytes <= len(raw); i += f.bytes {
		code := int(raw[i])
		if f.bytes == 2 {
			code = code<<8 | int(raw[i+1])
		}
		w, ok := f.widths[code]
		if !ok {
			w = f.other
		}
		width += w
		glyphs++
		if f.bytes == 1 && code == ' ' {
			spaces++
		}
	}
	text = f.encoding.Decode(raw)
	if !utf8.ValidString(text) {
		var b strings.Builder
		for i := range len(text) {
			b.WriteRune(rune(text[i])) // codes as in Latin-1
		}
		text = b.String()
	}
	return text, width, glyphs, spaces
}
