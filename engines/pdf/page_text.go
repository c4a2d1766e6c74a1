package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/ledongthuc/pdf"
)

// formsDeep is the maximum nesting depth of form XObjects on a page.
const formsDeep = 6

// read returns the text of a PDF file as Markdown. It converts panics of the PDF library to errors.
func read(file []byte) (text string, err error) {
	defer func() {
		if v := recover(); v != nil {
			text, err = "", errors.Join(ErrBroken, fmt.Errorf("%v", v))
			if known, ok := v.(error); ok && errors.Is(known, ErrText) {
				err = ErrText
			}
		}
	}()
	file = trimToPDF(file)
	doc, err := pdf.NewReader(bytes.NewReader(file), int64(len(file)))
	if errors.Is(err, pdf.ErrInvalidPassword) {
		return "", ErrLocked
	}
	if err != nil {
		return "", errors.Join(ErrBroken, err)
	}
	pages := doc.NumPage()
	if pages > MaxPages {
		return "", ErrPages
	}
	var out strings.Builder
	fonts := make(map[string]*font)
	var bad error
	for n := 1; n <= pages; n++ {
		l := layout{most: MaxText - out.Len(), fonts: fonts}
		if err := l.shown(doc, n); errors.Is(err, ErrText) {
			return "", ErrText
		} else if err != nil {
			bad = err // the text of this page so far and the other pages are still returned
		}
		words := strings.TrimSpace(l.text())
		if words == "" {
			continue
		}
		fmt.Fprintf(&out, "# Page %d\n\n%s\n\n", n, words)
		if out.Len() > MaxText {
			return "", ErrText
		}
	}
	if out.Len() == 0 && bad != nil {
		return "", bad
	}
	return out.String(), nil
}

// shown adds the text of page n to the layout and converts panics of the PDF library to errors.
func (l *layout) shown(doc *pdf.Reader, n int) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = errors.Join(ErrBroken, fmt.Errorf("page %d: %v", n, v))
			if known, ok := v.(error); ok && errors.Is(known, ErrText) {
				err = ErrText
			}
		}
	}()
	if page := doc.Page(n); !page.V.IsNull() {
		l.page(page)
	}
	return nil
}

// trimToPDF returns a PDF file in the form that the library requires: a header of version 1.x at the beginning, and
// %%EOF at the end. Many real files have other bytes around them, which most PDF readers accept.
func trimToPDF(file []byte) []byte {
	if i := bytes.Index(file[:min(len(file), 1024)], []byte("%PDF-")); i > 0 {
		file = file[i:]
	}
	if i := bytes.LastIndex(file, []byte("%%EOF")); i >= 0 {
		file = file[:i+len("%%EOF")]
	}
	if bytes.HasPrefix(file, []byte("%PDF-2.")) || len(file) > 8 && bytes.HasPrefix(file, []byte("%PDF-1.")) && file[8] != '\n' && file[8] != '\r' {
		file = bytes.Clone(file) // byte offsets stay valid: the bytes after the version number become a PDF comment
		copy(file, "%PDF-1.7\n")
	}
	return file
}

// page adds all text of a page to the layout.
func (l *layout) page(p pdf.Page) {
	l.state = state{wide: 1, at: unit, line: unit, ctm: unit}
	l.content(p.V.Key("Contents"), p.Resources(), 0)
}

// content executes the operators of a content stream that set fonts and position text (ISO 32000-1 §8.4 and §9.4).
func (l *layout) content(stream, resources pdf.Value, deep int) {
	if k := stream.Kind(); k != pdf.Stream && k != pdf.Array {
		return
	}
	saved := l.saved
	defer func() { l.saved = saved }()
	pdf.Interpret(stream, func(stack *pdf.Stack, op string) {
		args := make([]pdf.Value, stack.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stack.Pop()
		}
		if op == "Do" && len(args) == 1 && deep < formsDeep {
			l.form(resources.Key("XObject").Key(args[0].Name()), resources, deep)
			return
		}
		if op == "Tf" && len(args) == 2 {
			l.font = l.fontOf(resources.Key("Font").Key(args[0].Name()))
			l.size = args[1].Float64()
			return
		}
		l.do(op, args)
	})
}

// form executes the content stream of a form XObject, which may contain text.
func (l *layout) form(x, resources pdf.Value, deep int) {
	if x.Key("Subtype").Name() != "Form" {
		return
	}
	if own := x.Key("Resources"); own.Kind() == pdf.Dict {
		resources = own
	}
	before := l.state
	if m := x.Key("Matrix"); m.Len() == 6 {
		l.ctm = matrixOf(func(i int) float64 { return m.Index(i).Float64() }).times(l.ctm)
	}
	l.content(x, resources, deep+1)
	l.state = before
}
