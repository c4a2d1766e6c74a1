package domain

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// rowOptions are those of AppendRow and ReadRow.
var rowOptions = json.JoinOptions( //nolint:gochecknoglobals // a constant
	jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false),
	json.WithMarshalers(json.MarshalToFunc(writeNumber)), json.WithUnmarshalers(readFreely),
)

// AppendRow appends a record, or a part of one, as the store keeps it: JSON by
// the rules of encoding/json. Times are kept to the nanosecond, and numbers of
// free objects as they were written. Invalid UTF-8 becomes U+FFFD.
func AppendRow(b []byte, v any) ([]byte, error) {
	out := bytes.NewBuffer(b)
	if err := json.MarshalWrite(out, v, rowOptions); err != nil {
		return b, err
	}
	return out.Bytes(), nil
}

// ReadRow reads what AppendRow has written. Members that v does not have are
// ignored.
func ReadRow(text []byte, v any) error { return json.Unmarshal(text, v, rowOptions) }

// Tailed is a record of which a part is kept as raw bytes behind its JSON. Its
// JSON leaves that part out.
type Tailed interface {
	Record
	// Tail is that part, which nobody changes. Empty: there is none.
	Tail() []byte
	// SetTail puts the part back. The record owns the bytes from then on.
	SetTail(tail []byte)
}
