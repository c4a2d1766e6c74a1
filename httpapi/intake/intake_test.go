package intake_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/intake"
)

func readAll(rows iter.Seq2[domain.RawContact, error]) (list []domain.RawContact, err error) {
	for r, e := range rows {
		if e != nil {
			return list, e
		}
		list = append(list, r)
	}
	return list, nil
}

func TestCSVVariants(t *testing.T) {
	ada := func(line int) domain.RawContact {
		return domain.RawContact{Line: line, Phone: "+12025550123", Context: domain.Context{"name": "Ada"}}
	}
	bad := func(line int, why string) domain.RawContact { return domain.RawContact{Line: line, Problem: why} }
	const more, quote, size = "the row has more fields than the header", "a quoted field must end before the next delimiter", "the row is larger than 64 kB, or a quote in it is never closed"
	for name, c := range map[string]struct {
		text string
		want []domain.RawContact
	}{
		"plain":                          {"phone,name\n+12025550123,Ada\n", []domain.RawContact{ada(2)}},
		"no line feed at the end":        {"phone,name\n+12025550123,Ada", []domain.RawContact{ada(2)}},
		"CRLF, BOM, spaces":              {"\xef\xbb\xbf Phone , name\r\n +12025550123 , Ada \r\n", []domain.RawContact{ada(2)}},
		"semicolons":                     {"name;phone\nAda;+12025550123\n", []domain.RawContact{ada(2)}},
		"tabs":                           {"name\tphone\nAda\t+12025550123\n", []domain.RawContact{ada(2)}},
		"empty lines":                    {"\n\nphone,name\n\n+12025550123,Ada\n\n", []domain.RawContact{ada(5)}},
		"quotes":                         {"phone,\"name\"\n\"+12025550123\",\"Ada\"\n", []domain.RawContact{ada(2)}},
		"quoted field at the end":        {"name,phone\nAda,\"+12025550123\"", []domain.RawContact{ada(2)}},
		"line breaks in a field":         {"phone,name\n1,\"A\n\"\"b\"\", c\"\n+12025550123,Ada\n", []domain.RawContact{{Line: 2, Phone: "1", Context: domain.Context{"name": "A\n\"b\", c"}}, ada(4)}},
		"zone and country":               {"phone,timezone,COUNTRY,\n1,Europe/Berlin,DE,x\n", []domain.RawContact{{Line: 2, Phone: "1", Timezone: "Europe/Berlin", Country: "DE"}}},
		"short row":                      {"phone,name\n1\n+12025550123,Ada\n", []domain.RawContact{{Line: 2, Phone: "1"}, ada(3)}},
		"long row":                       {"phone,name\n1,2,3\n+12025550123,Ada\n", []domain.RawContact{bad(2, more), ada(3)}},
		"no phone":                       {"phone,name\n,Bob\n+12025550123,Ada\n", []domain.RawContact{{Line: 2, Context: domain.Context{"name": "Bob"}, Problem: "the row has no phone"}, ada(3)}},
		"text after a closing quote":     {"phone,name\n1,\"a\"b\n+12025550123,Ada\n", []domain.RawContact{bad(2, quote), ada(3)}},
		"quote inside an unquoted field": {"phone,name\n1,5\" pipe\n+12025550123,Ada\n", []domain.RawContact{{Line: 2, Phone: "1", Context: domain.Context{"name": "5\" pipe"}}, ada(3)}},
		"not UTF-8":                      {"phone,name\n1,\xff\n2,\x00\n+12025550123,Ada\n", []domain.RawContact{bad(2, "the row is not text in UTF-8"), bad(3, "the row is not text in UTF-8"), ada(4)}},
		"unclosed quote":                 {"phone,name\n1,\"Bob\n" + strings.Repeat("+12025550123,Ada\n", 2), []domain.RawContact{bad(2, size), ada(3), ada(4)}},
		"row that is too long":           {"phone,name\n1," + strings.Repeat("x", 200_000) + "\n+12025550123,Ada\n", []domain.RawContact{bad(2, size), ada(3)}},
	} {
		for way, r := range map[string]io.Reader{"at once": strings.NewReader(c.text), "byte by byte": iotest.OneByteReader(strings.NewReader(c.text))} {
			got, err := readAll(intake.CSV(r))
			require.NoError(t, err, name)
			assert.Equal(t, c.want, got, "%s, %s", name, way)
		}
	}
}

func TestMissingQuoteSkipsOneRowOnly(t *testing.T) {
	got, err := readAll(intake.CSV(strings.NewReader("phone,name\n1,\"Bob\n" + strings.Repeat("+12025550123,Ada\n", 50_000))))
	require.NoError(t, err)
	assert.Len(t, got, 50_001)
	assert.Equal(t, 50_002, got[50_000].Line)
}

func TestCSVWithoutPhoneColumnIsRefused(t *testing.T) {
	for _, text := range []string{"", "\n\n", "name\nAda\n", "phone,a,a\n", "\xff\xfep\x00", strings.Repeat("a,", 300) + "phone\n", "\"phone\n1\n", strings.Repeat("x", 100_000)} {
		_, err := readAll(intake.CSV(strings.NewReader(text)))
		assert.Equal(t, domain.CodeValidation, domain.CodeOf(err), "%.20q", text)
	}
}

func TestReadErrorEndsRows(t *testing.T) {
	broken := errors.New("the client went away")
	for _, read := range []func(io.Reader) iter.Seq2[domain.RawContact, error]{intake.CSV, intake.NDJSON} {
		_, err := readAll(read(io.MultiReader(strings.NewReader("phone\n1\n2"), iotest.ErrReader(broken))))
		require.ErrorIs(t, err, broken)
		_, err = readAll(read(iotest.ErrReader(broken)))
		require.ErrorIs(t, err, broken)
	}
}

func TestNDJSONReportsInvalidRows(t *testing.T) {
	got, err := readAll(intake.NDJSON(strings.NewReader(strings.Join([]string{
		`{"phone":"1","context":{"n":1},"timezone":"UTC","country":"US"}`, ``, `{"phone":1}`, `{"fone":"1"}`, `{`, `[]`, `{"phone":"1"}{"phone":"2"}`, `{}`, "\xff",
		`{"phone":"` + strings.Repeat("1", 100_000) + `"}`, `{"phone":"2"}`,
	}, "\n"))))
	require.NoError(t, err)
	assert.Equal(t, []domain.RawContact{
		{Line: 1, Phone: "1", Context: domain.Context{"n": json.Number("1")}, Timezone: "UTC", Country: "US"},
		{Line: 3, Problem: "the row is not a contact: phone must be a string"},
		{Line: 4, Problem: "the row is not a contact: fone is not a known member"},
		{Line: 5, Problem: "the row is not a contact: the JSON is incomplete: it ends at byte 1"},
		{Line: 6, Problem: "the row is not a contact: the value must be an object"},
		{Line: 7, Problem: "the row is not a contact: the JSON is not valid, at byte 13"},
		{Line: 8, Problem: "the row has no phone"},
		{Line: 9, Problem: "the row is not UTF-8"},
		{Line: 10, Problem: "the row is larger than 64 kB"},
		{Line: 11, Phone: "2"},
	}, got)
}

// CSV reads the files that encoding/csv writes, with the same values.
func TestCSVReadsOutputOfEncodingCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		field := rapid.StringOfN(rapid.RuneFrom([]rune("ab,;\"\n\r\t é'=")), 0, 8, -1)
		var want []domain.RawContact
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		w.UseCRLF = rapid.Bool().Draw(t, "crlf")
		_ = w.Write([]string{"phone", "a", "b"})
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			x, y := field.Draw(t, "a"), field.Draw(t, "b")
			_ = w.Write([]string{"1", x, y})
			c := domain.RawContact{Phone: "1"}
			for name, v := range map[string]string{"a": x, "b": y} {
				if v = strings.TrimSpace(v); v != "" {
					if c.Context == nil {
						c.Context = domain.Context{}
					}
					c.Context[name] = v
				}
			}
			want = append(want, c)
		}
		w.Flush()
		got, err := readAll(intake.CSV(&b))
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			got[i].Line = 0
			for k, v := range got[i].Context {
				got[i].Context[k] = strings.ReplaceAll(v.(string), "\r", "")
			}
		}
		for i := range want {
			for k, v := range want[i].Context {
				want[i].Context[k] = strings.ReplaceAll(v.(string), "\r", "")
			}
		}
		assert.Equal(t, want, got)
	})
}

func FuzzCSV(f *testing.F) {
	for _, s := range []string{"phone,name\n1,Ada\n", "a;phone\n\"x\"\"y\n\";1\n", "phone\n\"", "\xef\xbb\xbfphone\r\n1\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkRows(t, text, intake.CSV) })
}

func FuzzNDJSON(f *testing.F) {
	for _, s := range []string{`{"phone":"1"}`, "{\"phone\":\"1\",\"context\":{\"a\":[1]}}\n\n{", "null"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) { checkRows(t, text, intake.NDJSON) })
}

// checkRows requires that every row has either a phone or a problem and that line numbers increase. The result must not
// depend on how the input is split into reads.
func checkRows(t *testing.T, text []byte, read func(io.Reader) iter.Seq2[domain.RawContact, error]) {
	t.Helper()
	rows, err := readAll(read(bytes.NewReader(text)))
	line := 0
	for _, r := range rows {
		if (r.Phone == "") == (r.Problem == "") || r.Line <= line || r.Line > 1+bytes.Count(text, []byte{'\n'})+bytes.Count(text, []byte{'\r'}) {
			t.Fatalf("row %+v after line %d", r, line)
		}
		line = r.Line
	}
	pieces, err2 := readAll(read(iotest.HalfReader(bytes.NewReader(text))))
	if (err == nil) != (err2 == nil) || len(rows) != len(pieces) {
		t.Fatalf("%d rows (%v) at once, %d (%v) in pieces", len(rows), err, len(pieces), err2)
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"contacts":[{"phone":"1"}]}`))
	f.Add([]byte(`[{"phone":"1"},7]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := readAll(intake.JSON(bytes.NewReader(text)))
		if err != nil && domain.CodeOf(err) == "" {
			t.Fatal(err)
		}
		for _, r := range list {
			if r.Phone != "" && r.Problem != "" || r.Phone == "" && r.Problem == "" {
				t.Fatalf("%+v", r)
			}
		}
		if err == nil && !json.Valid(text) && utf8.Valid(text) && bytes.IndexByte(text, 0) < 0 && !bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
			t.Fatalf("%q is no JSON", text)
		}
	})
}
