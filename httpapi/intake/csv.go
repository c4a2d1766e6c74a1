package intake

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/callboard/callboard/domain"
)

// maxColumns is the maximum number of columns of a CSV file.
const maxColumns = 200

// CSV reads contacts from a CSV file with a header row (RFC 4180).
//
//   - The column phone is required, the columns timezone and country are optional. Every other column becomes a context
//     variable with the name of the column. Columns without a name are skipped.
//   - The delimiter is a comma, a semicolon or a tab. A first line such as sep=; sets it. Default: the one that occurs
//     most in the header.
//   - The encoding is UTF-8, or UTF-16 with a byte order mark. Lines end in LF, CRLF or CR.
//   - Empty rows are skipped. A row that cannot be read is returned with a Problem. An error of r or of the header ends
//     the sequence.
func CSV(r io.Reader) iter.Seq2[domain.RawContact, error] { return CSVWithColumns(r, &Columns{}) }

// CSVWithColumns reads a CSV file like CSV, but matches its columns to the variables of a pathway as well. It sets
// as.Mapping.
func CSVWithColumns(r io.Reader, as *Columns) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		t := &csvTable{w: newWindow(decodeText(r)), line: 1, delimiter: ',', end: '\n', columnMatch: as}
		if err := t.readHeader(); err != nil {
			yield(domain.RawContact{}, err)
			return
		}
		for {
			c, err := t.nextRow()
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(domain.RawContact{}, err)
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// csvTable reads the rows of a CSV file.
type csvTable struct {
	w              *window
	line           int // line number of the next record
	delimiter      byte
	delimiterKnown bool // a sep= line has set the delimiter
	end            byte // byte that ends each line of the file: LF or CR
	columns        []string
	fields         []string
	columnMatch    *Columns
}

func (t *csvTable) readHeader() error {
	t.end = t.w.lineEnd()
	text, whole, err := t.readRecord()
	for err == nil && whole && (len(bytes.TrimSpace(text)) == 0 || t.readSeparatorLine(text)) {
		text, whole, err = t.readRecord()
	}
	if errors.Is(err, io.EOF) {
		return headerError("the file is empty: its first row must name the columns, including phone")
	}
	if err != nil {
		return err
	}
	if !utf8.Valid(text) {
		return headerError("the file is not UTF-8: save it as UTF-8, or name its encoding in Content-Type, as in text/csv; charset=windows-1252")
	}
	if !t.delimiterKnown {
		t.delimiter = delimiterOf(text)
	}
	names, ok := t.splitFields(text)
	if !whole || !ok {
		return headerError("the first row does not contain column names")
	}
	named := len(names)
	for named > 0 && trimSpace(names[named-1]) == "" {
		named--
	}
	if named > maxColumns {
		return headerError("the file has more than 200 columns")
	}
	for i, name := range names {
		names[i] = trimSpace(name)
	}
	if t.columns, err = t.columnMatch.match(names); err != nil {
		return err
	}
	if !slices.Contains(t.columns, "phone") {
		return headerError("the first row must name the columns, including phone")
	}
	return nil
}

// readSeparatorLine reads a line such as sep=; with which Excel sets the delimiter. It reports whether text is such a
// line.
func (t *csvTable) readSeparatorLine(text []byte) bool {
	text = bytes.Trim(bytes.TrimSpace(text), "\"")
	if t.delimiterKnown || len(text) != len("sep=;") || !strings.EqualFold(string(text[:4]), "sep=") {
		return false
	}
	t.delimiter, t.delimiterKnown = text[4], true
	return true
}

// trimSpace returns a text without white space and invisible characters at its ends.
func trimSpace(s string) string { return strings.TrimFunc(s, isBlank) }

func isBlank(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == ' ' || r >= '\t' && r <= '\r'
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r == 0x2060, r == 0xfeff:
		return true // zero width characters and direction marks, which copied addresses contain
	}
	return unicode.IsSpace(r)
}

func headerError(why string) error {
	var p domain.Problems
	p.Add("header", domain.CodeValidation, "%s", why)
	return p.Err()
}

// nextRow returns the next row that is not empty.
func (t *csvTable) nextRow() (domain.RawContact, error) {
	for {
		at := t.line
		text, whole, err := t.readRecord()
		if err != nil {
			return domain.RawContact{}, err
		}
		if whole && t.isEmptyRow(text) {
			continue
		}
		c := domain.RawContact{Line: at}
		switch {
		case !whole:
			c.Problem = "the row is larger than 64 kB, or a quote in it is never closed"
		case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
			c.Problem = "the row is not text in UTF-8"
		default:
			t.fillContact(&c, text)
		}
		return c, nil
	}
}

// isEmptyRow reports whether a row has no values: it consists of delimiters, white space and quotes.
func (t *csvTable) isEmptyRow(text []byte) bool {
	for _, b := range text {
		if b != t.delimiter && b != ' ' && b != '"' && (b < '\t' || b > '\r') {
			return false
		}
	}
	return true
}

func (t *csvTable) fillContact(c *domain.RawContact, text []byte) {
	fields, ok := t.splitFields(text)
	switch {
	case !ok:
		c.Problem = "a quoted field must end before the next delimiter"
		return
	case len(fields) > len(t.columns) && slices.ContainsFunc(fields[len(t.columns):], func(v string) bool { return trimSpace(v) != "" }):
		c.Problem = "the row has more fields than the header"
		return
	}
	fields = fields[:min(len(fields), len(t.columns))]
	for i, v := range fields {
		name := t.columns[i]
		if v = trimSpace(v); v == "" || name == "" {
			continue
		}
		switch name {
		case "phone":
			c.Phone = v
		case "timezone":
			c.Timezone = v
		case "country":
			c.Country = v
		default:
			if c.Context == nil {
				c.Context = make(domain.Context, len(t.columns)-1)
			}
			c.Context[name] = v
		}
	}
	c.Problem = checkPhone(c.Phone)
}

// readRecord returns the next record without its line end. A quoted field may hold line ends. If a record is longer
// than MaxRow, readRecord skips only its first line, so that a missing quote does not consume the whole file.
func (t *csvTable) readRecord() (text []byte, whole bool, err error) {
	var s recordScanner
	n := 0
	for {
		all, err := t.w.peekBeyond(n)
		if err != nil && (!errors.Is(err, io.EOF) || len(all) == 0) {
			return nil, false, err
		}
		for ; n < len(all) && n < MaxRow; n++ {
			if s.isEnd(all[n], t.delimiter, t.end) {
				t.w.discard(n + 1)
				t.line += 1 + bytes.Count(all[:n], []byte{t.end})
				return all[:n], true, nil
			}
		}
		last := err != nil
		if last && (!s.quoted || s.closing) {
			t.w.discard(len(all))
			return all, true, nil
		}
		if last || n >= MaxRow {
			t.line++
			return nil, false, t.w.skipLine(t.end)
		}
	}
}

// recordScanner finds the end of a CSV record. It reads byte by byte, because a quoted field may hold line ends.
type recordScanner struct {
	inField bool // after the first byte of a field
	quoted  bool // the scanner is inside quotes
	closing bool // the last byte was a quote inside quotes
}

// isEnd reads the next byte b and reports whether b ends the record.
func (s *recordScanner) isEnd(b, delimiter, end byte) bool {
	if s.quoted && !s.closing {
		s.closing = b == '"'
		return false
	}
	if s.closing {
		s.closing = false
		if b == '"' {
			return false
		}
		s.quoted = false
	}
	switch {
	case b == end:
		return true
	case b == delimiter:
		s.inField = false
	case b == '"' && !s.inField:
		s.quoted, s.inField = true, true
	default:
		s.inField = true
	}
	return false
}

// splitFields splits a record into fields. ok is false if a quoted field is not closed or data follows its closing
// quote. The result is valid until the next call.
func (t *csvTable) splitFields(text []byte) (fields []string, ok bool) {
	t.fields = t.fields[:0]
	text = bytes.TrimSuffix(text, []byte{'\r'})
	for {
		if len(text) == 0 || text[0] != '"' {
			i := bytes.IndexByte(text, t.delimiter)
			if i < 0 {
				t.fields = append(t.fields, string(text))
				return t.fields, true
			}
			t.fields = append(t.fields, string(text[:i]))
			text = text[i+1:]
			continue
		}
		value, rest, closed := unquote(text[1:])
		if !closed || (len(rest) > 0 && rest[0] != t.delimiter) {
			return nil, false
		}
		t.fields = append(t.fields, value)
		if len(rest) == 0 {
			return t.fields, true
		}
		text = rest[1:]
	}
}

// unquote reads a quoted field. text begins after the opening quote, and rest after the closing quote.
func unquote(text []byte) (value string, rest []byte, closed bool) {
	var b strings.Builder
	for {
		i := bytes.IndexByte(text, '"')
		if i < 0 {
			return "", nil, false
		}
		b.Write(text[:i])
		if text = text[i+1:]; len(text) == 0 || text[0] != '"' {
			return b.String(), text, true
		}
		b.WriteByte('"')
		text = text[1:]
	}
}

// delimiterOf returns the delimiter that occurs most often outside quotes in the header.
func delimiterOf(header []byte) byte {
	best, most := byte(','), 0
	for _, d := range []byte{',', ';', '\t'} {
		quoted, n := false, 0
		for _, b := range header {
			if b == '"' {
				quoted = !quoted
			}
			if b == d && !quoted {
				n++
			}
		}
		if n > most {
			best, most = d, n
		}
	}
	return best
}
