package pdf_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/callboard/callboard/engines/pdf"
)

// TestMain runs this test program as the child process that reads a PDF file if its first argument is read-pdf.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "read-pdf" {
		if err := pdf.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func reader() *pdf.Reader { return pdf.New(os.Args[0], "read-pdf") }

// file returns a PDF file with the given objects. The first object must be the document catalog.
func file(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d /Root 1 0 R %s>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, trailer, xref)
	return b.Bytes()
}

// stream returns a PDF stream object with the given dictionary entries and content.
func stream(dict, text string) string {
	return fmt.Sprintf("<<%s /Length %d>>\nstream\n%s\nendstream", dict, len(text), text)
}

// deflated returns a PDF stream object whose content is compressed with zlib.
func deflated(text io.Reader) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = io.Copy(w, text)
	_ = w.Close()
	return stream("/Filter /FlateDecode", b.String())
}

// page returns a PDF file of one page with a content stream and a form XObject.
func page(content, form string) []byte {
	return file("", "<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [3 0 R] /Count 1>>",
		"<</Type /Page /Parent 2 0 R /Contents 4 0 R /Resources <</Font <</F 5 0 R>> /XObject <</X 6 0 R>>>>>>",
		content, "<</Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding /FirstChar 0 /LastChar 255 /Widths ["+strings.Repeat("600 ", 256)+"]>>", form)
}

func TestPDFTextKeepsReadingOrder(t *testing.T) {
	t.Parallel()
	printed, err := os.ReadFile("testdata/browser.pdf")
	require.NoError(t, err)
	got, err := reader().Text(t.Context(), printed)
	require.NoError(t, err)
	assert.Equal(t, "# Page 1\n\nOpening hours\n\nThe clinic is open on Mondays from nine to five.\nOn Fridays it closes at noon — “early” for some.\nGröße, café, office.\n\n"+
		"Parking is free of charge behind the house.\n\nCheck-up 40 euros\nCleaning 75 euros\n\n# Page 2\n\nBring your insurance card.\n\n", got)

	got, err = reader().Text(t.Context(), page(stream("",
		`BT /F 10 Tf 72 700 Td [(Kern) 20 (ed words) -600 (are) -700 (whole.)] TJ 0 -12 Td (# no heading) Tj T* ET
		 q 1 0 0 1 0 -100 cm BT /F 10 Tf 12 TL 72 700 Td (Line one) Tj (line two) ' 2 1 (line three) " ET Q /X Do`),
		stream("/Subtype /Form /Matrix [1 0 0 1 0 -300]", "BT /F 10 Tf 72 700 Td (In a form\\222s words) Tj ET")))
	require.NoError(t, err)
	assert.Equal(t, "# Page 1\n\nKerned words are whole.\n\\# no heading\n\nLine one\nline two\nline three\n\nIn a form’s words\n\n", got)

	got, err = reader().Text(t.Context(), append([]byte("junk before\n"), append(page(stream("", "BT /F 9 Tf (Hello) Tj ET"), "null"), "junk behind"...)...))
	require.NoError(t, err)
	assert.Equal(t, "# Page 1\n\nHello\n\n", got)
	got, err = reader().Text(t.Context(), append(page(stream("", "BT /F 9 Tf (Hello) Tj ET"), "null"), "\r\njunk behind"...))
	require.NoError(t, err)
	assert.Equal(t, "# Page 1\n\nHello\n\n", got)
}

// endless is a reader that repeats a text until it has returned left bytes.
type endless struct {
	text     string
	left, at int
}

func (e *endless) Read(b []byte) (int, error) {
	if e.left <= 0 {
		return 0, io.EOF
	}
	n := copy(b, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	e.left -= n
	return n, nil
}

func TestMaliciousPDFFilesAreBounded(t *testing.T) {
	t.Parallel()
	text := func(s string) string { return stream("", s) }
	tree := "<</Type /Catalog /Pages 2 0 R>>"
	for name, c := range map[string]struct {
		file []byte
		want error
	}{
		"nothing":              {nil, pdf.ErrBroken},
		"no PDF":               {[]byte("hello"), pdf.ErrBroken},
		"half of one":          {page(text("BT ET"), "null")[:200], pdf.ErrBroken},
		"too large":            {make([]byte, pdf.MaxFile+1), pdf.ErrSize},
		"pages within pages":   {file("", tree, "<</Type /Pages /Kids [2 0 R] /Count 300>>"), pdf.ErrSlow},
		"a million pages":      {file("", tree, "<</Type /Pages /Kids [2 0 R] /Count 1000000>>"), pdf.ErrPages},
		"a bomb of words":      {page(deflated(&endless{"BT /F 9 Tf (" + strings.Repeat("word ", 2000) + ") Tj ET ", 8 << 20, 0}), "null"), pdf.ErrText},
		"a bomb of a number":   {page(deflated(&endless{strings.Repeat("7", 1<<10), 8 << 20, 0}), "null"), pdf.ErrBroken},
		"brackets in brackets": {file("", "<</Type /Catalog /Pages "+strings.Repeat("[", 4<<20)), pdf.ErrBroken},
		"a form within itself": {page(text("/X Do"), stream("/Subtype /Form", "/X Do /X Do (x) Tj")), nil},
		"a password": {file("/ID [(x) (x)] /Encrypt <</Filter /Standard /V 1 /R 2 /P -4 /O <"+strings.Repeat("41", 32)+"> /U <"+strings.Repeat("42", 32)+">>>", tree,
			"<</Type /Pages /Kids [] /Count 0>>"), pdf.ErrLocked},
		"a table of a terabyte": {bytes.Replace(file("", tree), []byte("xref\n0 2"), []byte("xref\n99999999999 2"), 1), pdf.ErrBroken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := reader()
			if c.want == pdf.ErrSlow { //nolint:errorlint // it is the one in the table
				r.Limit = time.Second
			}
			got, err := r.Text(t.Context(), c.file)
			assert.Empty(t, got)
			if c.want == nil {
				assert.NoError(t, err)
			} else {
				assert.ErrorIs(t, err, c.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := reader().Text(ctx, page(text("BT ET"), "null"))
	require.ErrorIs(t, err, context.Canceled)
}

func FuzzPages(f *testing.F) {
	f.Add([]byte("BT /F 9 Tf (Hello) Tj ET"))
	f.Add([]byte("q Q Q Q 1 2 cm Tf Tj ' \" TJ Td"))
	f.Add([]byte("[(a) 1e400 <</a"))
	f.Fuzz(func(t *testing.T, content []byte) {
		r := reader()
		r.Limit = 5 * time.Second
		got, err := r.Text(t.Context(), page(stream("", string(content)), "null"))
		if err != nil {
			assert.Empty(t, got)
		}
		assert.LessOrEqual(t, len(got), pdf.MaxText)
	})
}
