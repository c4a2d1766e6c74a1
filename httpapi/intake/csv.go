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

// maxColumns bounds the width of a file.
const maxColumns = 200

// CSV reads RFC 4180: a header row with a column phone, optionally timezone
// and country; every other column becomes context under its name. Commas,
// semicolons or tabs may part the fields, whichever the header uses or a line
// sep= before it says; UTF-8, or UTF-16 by its mark; lines end in LF, CRLF or
// CR. Columns without a name and rows without a value are passed over. A row
// that cannot be read has a Problem. An error of r, or of the header, ends the
// rows.
func CSV(r io.Reader) iter.Seq2[domain.RawContact, error] { return CSVAs(r, &Columns{}) }

// CSVAs is CSV of a file whose columns are matched to variables.
func CSVAs(r io.Reader, as *Columns) iter.Seq2[domain.RawContact, error] {
	return func(yield func(domain.RawContact, error) bool) {
		t := &table{w: newWindow(decodeText(r)), line: 1, delimiter: ',', end: '\n', as: as}
		if err := t.header(); err != nil {
			yield(domain.RawContact{}, err)
			return
		}
		for {
			c, err := t.next()
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

// table is a CSV file while it is read.
type table struct {
	w         *window
	line      int // of the next record
	delimiter byte
	told      bool // the delimiter was
	end       byte // of lines: that of the header's
	columns   []string
	fields    []string
	as        *Columns
}

func (t *table) header() error {
	t.end = t.w.lineEnd()
	text, whole, err := t.record()
	for err == nil && whole && (len(bytes.TrimSpace(text)) == 0 || t.separator(text)) {
		text, whole, err = t.record()
	}
	if errors.Is(err, io.EOF) {
		return headerError("the file is empty: its first row must name the columns, phone among them")
	}
	if err != nil {
		return err
	}
	if !utf8.Valid(text) {
		return headerError("the file is not UTF-8: save it as UTF-8, or name its encoding in Content-Type, as in text/csv; charset=windows-1252")
	}
	if !t.told {
		t.delimiter = delimiterOf(text)
	}
	names, ok := t.split(text)
	if !whole || !ok {
		return headerError("the first row is no row of column names")
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
	if t.columns, err = t.as.match(names); err != nil {
		return err
	}
	if !slices.Contains(t.columns, "phone") {
		return headerError("the first row must name the columns, phone among them")
	}
	return nil
}

// separator takes the line with which Excel says what parts the fields: sep=;
func (t *table) separator(text []byte) bool {
	text = bytes.Trim(bytes.TrimSpace(text), "\"")
	if t.told || len(text) != len("sep=;") || !strings.EqualFold(string(text[:4]), "sep=") {
		return false
	}
	t.delimiter, t.told = text[4], true
	return true
}

// trimSpace is a text without the spaces around it, those that cannot be seen
// among them.
func trimSpace(s string) string { return strings.TrimFunc(s, isBlank) }

func isBlank(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == ' ' || r >= '\t' && r <= '\r'
	case r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r == 0x2060, r == 0xfeff:
		return true // no width; marks of direction, which addresses copied from elsewhere carry
	}
	return unicode.IsSpace(r)
}

func headerError(why string) error {
	var p domain.Problems
	p.Add("header", domain.CodeValidation, "%s", why)
	return p.Err()
}

// next is the next row that is not empty.
func (t *table) next() (domain.RawContact, error) {
	for {
		at := t.line
		text, whole, err := t.record()
		if err != nil {
			return domain.RawContact{}, err
		}
		if whole && t.empty(text) {
			continue
		}
		c := domain.RawContact{Line: at}
		switch {
		case !whole:
			c.Problem = "the row is larger than 64 kB, or a quote in it is never closed"
		case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
			c.Problem = "the row is not text in UTF-8"
		default:
			t.contact(&c, text)
		}
		return c, nil
	}
}

// empty says whether a row has no value at all.
func (t *table) empty(text []byte) bool {
	for _, b := range text {
		if b != t.delimiter && b != ' ' && b != '"' && (b < '\t' || b > '\r') {
			return false
		}
	}
	return true
}

func (t *table) contact(c *domain.RawContact, text []byte) {
	fields, ok := t.split(text)
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

// record takes the next record without its end; a quoted field may hold line
// ends. Where a record does not end within MaxRow, only its first line is
// taken: one forgotten quote must not swallow the file.
func (t *table) record() (text []byte, whole bool, err error) {
	var s scanner
	n := 0
	for {
		all, err := t.w.more(n)
		if err != nil && (!errors.Is(err, io.EOF) || len(all) == 0) {
			return nil, false, err
		}
		for ; n < len(all) && n < MaxRow; n++ {
			if s.ends(all[n], t.delimiter, t.end) {
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
			return nil, false, t.w.skip(t.end)
		}
	}
}

// scanner follows the quotes of a record, byte by byte.
type scanner struct {
	inField bool // beyond the first byte of a field
	quoted  bool // inside quotes
	closing bool // the last byte was a quote inside quotes
}

// ends says whether the byte ends the record.
func (s *scanner) ends(b, delimiter, end byte) bool {
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

// split parts a record into fields; ok is false where something follows a
// closing quote. The result is good until the next call.
func (t *table) split(text []byte) (fields []string, ok bool) {
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

// unquote reads a quoted field after its opening quote.
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

// delimiterOf is what the header parts its names with.
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
