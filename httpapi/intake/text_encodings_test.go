package intake_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/intake"
)

// encodeUTF16 encodes a text in UTF-16, with or without a byte order mark.
func encodeUTF16(text string, order binary.AppendByteOrder, mark bool) string {
	var b []byte
	if mark {
		b = order.AppendUint16(b, 0xfeff)
	}
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

func TestSpreadsheetExportsAreRead(t *testing.T) {
	want := []domain.RawContact{
		{Line: 2, Phone: "+12025550123", Context: domain.Context{"name": "Zoë 🐘"}},
		{Line: 3, Phone: "+12025550124", Context: domain.Context{"name": "Bob"}},
	}
	const plain = "phone,name\n+12025550123,Zoë 🐘\n+12025550124,Bob\n"
	at := func(lines int) []domain.RawContact {
		moved := append([]domain.RawContact(nil), want...)
		for i := range moved {
			moved[i].Line += lines
		}
		return moved
	}
	for name, c := range map[string]struct {
		text string
		want []domain.RawContact
	}{
		"UTF-8 with BOM":                  {"\xef\xbb\xbf" + plain, want},
		"UTF-16 LE":                       {encodeUTF16(plain, binary.LittleEndian, true), want},
		"UTF-16 BE":                       {encodeUTF16(plain, binary.BigEndian, true), want},
		"UTF-16 LE without BOM":           {encodeUTF16(plain, binary.LittleEndian, false), want},
		"UTF-16 BE without BOM":           {encodeUTF16(plain, binary.BigEndian, false), want},
		"UTF-16 with tabs, as Unicode":    {encodeUTF16(strings.ReplaceAll(strings.ReplaceAll(plain, ",", "\t"), "\n", "\r\n"), binary.LittleEndian, true), want},
		"sep=;":                           {"sep=;\r\n" + strings.ReplaceAll(plain, ",", ";"), at(1)},
		"\"sep=,\"":                       {"\"sep=,\"\n" + plain, at(1)},
		"SEP=| with an unusual separator": {"SEP=|\n" + strings.ReplaceAll(plain, ",", "|"), at(1)},
		"lines ending in CR":              {strings.ReplaceAll(plain, "\n", "\r"), want},
		"trailing empty columns":          {strings.ReplaceAll(plain, "\n", ",,,\n"), want},
		"500 trailing empty columns":      {strings.Replace(plain, "\n", strings.Repeat(",", 500)+"\n", 1), want},
		"rows with trailing empty fields": {strings.ReplaceAll(plain, "Bob\n", "Bob,,,,\n"), want},
		"trailing empty rows":             {plain + ",\n,\n\"\",\"\"\n , \n", want},
		"no-break and zero-width spaces":  {"\u00a0phone ,name\n\u202a+12025550123\u202c,\u00a0Zoë 🐘\u200b\n+12025550124\u00a0,Bob\n", want},
	} {
		for way, r := range map[string]io.Reader{
			"at once": strings.NewReader(c.text), "byte by byte": iotest.OneByteReader(strings.NewReader(c.text)), "with its end": iotest.DataErrReader(strings.NewReader(c.text)),
		} {
			got, err := readAll(intake.CSV(r))
			require.NoError(t, err, name)
			assert.Equal(t, c.want, got, "%s, %s", name, way)
		}
	}
}

func TestIncompleteUTF16IsReplaced(t *testing.T) {
	for _, text := range []string{
		encodeUTF16("phone,name\n1,", binary.LittleEndian, true) + "\x3d\xd8",          // half a surrogate pair
		encodeUTF16("phone,name\n1,", binary.LittleEndian, true) + "\x3d\xd8A\x00",     // half a surrogate pair and a letter
		encodeUTF16("phone,name\n1,", binary.LittleEndian, true) + "\x00\xdc" + "\x41", // the second half of a pair, and half a code unit
	} {
		got, err := readAll(intake.CSV(strings.NewReader(text)))
		require.NoError(t, err)
		require.Len(t, got, 1)
		assert.Equal(t, "1", got[0].Phone)
		name, _ := got[0].Context.Text("name")
		assert.Contains(t, name, "\ufffd")
	}
}

func TestNumberLinesInSpreadsheetEncodings(t *testing.T) {
	const text = "+12025550100\r\n\r\n 0171 5550101\n"
	for name, file := range map[string]string{
		"UTF-8": text, "UTF-8 with a mark": "\xef\xbb\xbf" + text, "UTF-16 LE": encodeUTF16(text, binary.LittleEndian, true),
		"UTF-16 BE": encodeUTF16(text, binary.BigEndian, true), "UTF-16 LE without BOM": encodeUTF16(text, binary.LittleEndian, false),
	} {
		var got []domain.RawNumber
		for n, err := range intake.NumberLines(strings.NewReader(file)) {
			require.NoError(t, err)
			got = append(got, n)
		}
		assert.Equal(t, []domain.RawNumber{{Line: 1, Phone: "+12025550100"}, {Line: 3, Phone: "0171 5550101"}}, got, name)
	}
}

func TestUTF16RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := strings.TrimSpace(rapid.StringOfN(rapid.RuneFrom([]rune("abcäß漢字🐘 ")), 1, 40, -1).Draw(t, "name"))
		var order binary.AppendByteOrder = binary.LittleEndian
		if rapid.Bool().Draw(t, "big") {
			order = binary.BigEndian
		}
		text := encodeUTF16("phone,name\r\n1,"+name+"\r\n", order, true)
		got, err := readAll(intake.CSV(iotest.HalfReader(strings.NewReader(text))))
		if err != nil || len(got) != 1 {
			t.Fatalf("%v %v", got, err)
		}
		if said, _ := got[0].Context.Text("name"); said != name {
			t.Fatalf("%q became %q", name, said)
		}
	})
}

func TestJSONContacts(t *testing.T) {
	ada := domain.RawContact{Line: 1, Phone: "1", Context: domain.Context{"a": "]}\",{["}}
	const text = `{"phone":"1","context":{"a":"]}\",{["}}`
	for name, c := range map[string]struct {
		text string
		want []domain.RawContact
	}{
		"array":                          {`[` + text + `]`, []domain.RawContact{ada}},
		"object with contacts":           {`{"contacts":[` + text + `]}`, []domain.RawContact{ada}},
		"spaces and BOM":                 {"\xef\xbb\xbf \r\n{ \"contacts\" :\t[ " + text + " ] } \n", []domain.RawContact{ada}},
		"empty array":                    {`[]`, nil},
		"object with an empty array":     {`{"contacts": [ ]}`, nil},
		"elements that are not contacts": {`[7, "x", null , {"phone":7}]`, []domain.RawContact{{Line: 1, Problem: "the row is not a contact: the value must be an object"}, {Line: 2, Problem: "the row is not a contact: the value must be an object"}, {Line: 3, Problem: "the row has no phone"}, {Line: 4, Problem: "the row is not a contact: phone must be a string"}}},
		"contact that is too large":      {`[` + text + `,{"phone":"` + strings.Repeat("\\\"", 100_000) + `"},{"phone":"3"}]`, []domain.RawContact{ada, {Line: 2, Problem: "the contact is larger than 64 kB"}, {Line: 3, Phone: "3"}}},
		"UTF-16":                         {encodeUTF16(`[`+text+`]`, binary.BigEndian, true), []domain.RawContact{ada}},
	} {
		for way, r := range map[string]io.Reader{"at once": strings.NewReader(c.text), "byte by byte": iotest.OneByteReader(strings.NewReader(c.text))} {
			got, err := readAll(intake.JSON(r))
			require.NoError(t, err, name)
			assert.Equal(t, c.want, got, "%s, %s", name, way)
		}
	}
}

func TestInvalidJSONEndsRows(t *testing.T) {
	for text, code := range map[string]domain.Code{
		"": "invalid_request", "x": "invalid_request", `[`: "invalid_request", `[{"phone":"1"}`: "invalid_request", `[{"phone":"1"},]`: "invalid_request",
		`[{"phone":"1"}{"phone":"2"}]`: "invalid_request", `[{"phone":}]`: "invalid_request", `[] []`: "invalid_request", `{"contacts"}`: "invalid_request",
		`{"contacts":[]`: "invalid_request", `{contacts:[]}`: "invalid_request", `{"a":nul,"contacts":[]}`: "invalid_request", `[,]`: "invalid_request",
		`{"contacts":[}]`: "invalid_request", `[}`: "invalid_request", `{"contacts":[]]`: "invalid_request",
		`{}`: "validation_error", `{"contacts":null}`: "validation_error", `{"contacts":"x"}`: "validation_error", `{"contacts":{}}`: "validation_error",
		`{"a":1,"contacts":[]}`: "validation_error", `{"b":{"contacts":[7]},"contacts":[]}`: "validation_error", `{"contacts":[],"d":[[]]}`: "validation_error", `{"":null}`: "validation_error",
		`7`: "validation_error", `"x"`: "validation_error", `{"contacts":-1}`: "validation_error",
		`{"contacts":[],"contacts":[]}`: "validation_error", `{"CONTACTS":[]}`: "validation_error",
	} {
		_, err := readAll(intake.JSON(strings.NewReader(text)))
		assert.Equal(t, code, domain.CodeOf(err), text)
	}
	broken := io.MultiReader(strings.NewReader(`[{"phone":"1"},`), iotest.ErrReader(io.ErrClosedPipe))
	got, err := readAll(intake.JSON(broken))
	require.ErrorIs(t, err, io.ErrClosedPipe)
	assert.Len(t, got, 1)
}

// The memory that is needed to read a JSON list does not grow with the length of the list.
func TestLongJSONListUsesBoundedMemory(t *testing.T) {
	r, w := io.Pipe()
	const contacts = 200_000
	go func() {
		one := []byte(`{"phone":"+12025550123","context":{"name":"Ada"}},`)
		_, _ = w.Write([]byte(`{"contacts":[`))
		for range contacts / 100 {
			_, _ = w.Write(bytes.Repeat(one, 100))
		}
		_, _ = w.Write(append(one[:len(one)-1], `]}`...))
		_ = w.Close()
	}()
	n := 0
	for c, err := range intake.JSON(r) {
		require.NoError(t, err)
		n++
		require.Equal(t, n, c.Line)
	}
	assert.Equal(t, contacts+1, n)
}

func FuzzUTF16(f *testing.F) {
	f.Add([]byte("\xff\xfep\x00h\x00o\x00n\x00e\x00\n\x001\x00"))
	f.Add([]byte("\xfe\xff\x00p\x00h\x00o\x00n\x00e\x00\n\xd8\x3d"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rows, err := readAll(intake.CSV(bytes.NewReader(append([]byte{0xff, 0xfe}, text...))))
		for _, r := range rows {
			if !utf8.ValidString(r.Phone) {
				t.Fatalf("%q", r.Phone)
			}
		}
		pieces, err2 := readAll(intake.CSV(iotest.OneByteReader(bytes.NewReader(append([]byte{0xff, 0xfe}, text...)))))
		if (err == nil) != (err2 == nil) || len(rows) != len(pieces) {
			t.Fatalf("%d rows (%v) at once, %d (%v) in pieces", len(rows), err, len(pieces), err2)
		}
	})
}
