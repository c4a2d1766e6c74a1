package domain

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// rowOptions are the JSON options of AppendRow and ReadRow.
var rowOptions = json.JoinOptions( //nolint:gochecknoglobals // a constant
	jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false),
	json.WithMarshalers(json.MarshalToFunc(writeNumber)), json.WithUnmarshalers(readFreely),
)

// AppendRow appends the stored form of a record, or of a part of a record, to b. The form is JSON by the rules of
// encoding/json. Times keep their nanoseconds, and numbers of free-form objects keep their text. Invalid UTF-8
// becomes U+FFFD.
func AppendRow(b []byte, v any) ([]byte, error) {
	out := bytes.NewBuffer(b)
	if err := json.MarshalWrite(out, v, rowOptions); err != nil {
		return b, err
	}
	return out.Bytes(), nil
}

// ReadRow decodes the output of AppendRow into v. Unknown members are ignored.
func ReadRow(text []byte, v any) error { return json.Unmarshal(text, v, rowOptions) }

// RawPartRecord is a record of which one part is stored as raw bytes after the JSON. The JSON does not contain that
// part.
type RawPartRecord interface {
	Record
	// RawPart returns the raw part, which must not be modified. It may be empty.
	RawPart() []byte
	// SetRawPart sets the raw part. The record owns the slice afterwards.
	SetRawPart(part []byte)
}
