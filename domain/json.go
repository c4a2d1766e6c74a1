package domain

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// TimeFormat is the format of times in API responses, events and webhook bodies: RFC 3339 in UTC with milliseconds.
const TimeFormat = "2006-01-02T15:04:05.000Z"

// LocalTimeFormat is TimeFormat with the UTC offset of a time zone.
const LocalTimeFormat = "2006-01-02T15:04:05.000Z07:00"

var (
	// writeOptions are the options of EncodeJSON.
	writeOptions = json.JoinOptions( //nolint:gochecknoglobals // a constant
		jsonv1.DefaultOptionsV1(),
		json.FormatNilSliceAsNull(false), json.FormatNilMapAsNull(false),
		jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false),
		json.WithMarshalers(json.JoinMarshalers(json.MarshalToFunc(writeTime), json.MarshalToFunc(writeNumber))),
	)
	// readFreely decodes free-form JSON objects. Numbers keep their text.
	readFreely = json.JoinUnmarshalers(json.UnmarshalFromFunc(readFree), json.UnmarshalFromFunc(readContext)) //nolint:gochecknoglobals // a constant
	// readOptions are the options of DecodeJSON.
	readOptions = json.JoinOptions( //nolint:gochecknoglobals // a constant
		json.RejectUnknownMembers(true), jsonv1.FormatDurationAsNano(true), jsonv1.UnmarshalArrayFromAnyLength(true),
		json.WithUnmarshalers(json.JoinUnmarshalers(readFreely, json.UnmarshalFromFunc(readInteger))),
	)
)

// EncodeJSON returns the JSON of a value for responses, events and webhook bodies.
// Nil slices are encoded as [] and nil maps as {}. Times have TimeFormat, the members
// of maps are sorted by name, and nothing is escaped for HTML. Other rules are those
// of encoding/json.
func EncodeJSON(v any) ([]byte, error) { return json.Marshal(v, writeOptions) }

// WriteJSON writes the JSON of EncodeJSON and a line feed.
func WriteJSON(w io.Writer, v any) error {
	text, err := EncodeJSON(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

func writeTime(e *jsontext.Encoder, t time.Time) error {
	const quoted = `"` + TimeFormat + `"`
	return e.WriteValue(t.UTC().AppendFormat(make([]byte, 0, len(quoted)), quoted))
}

// writeNumber encodes json.Number of encoding/json, which encoding/json/v2 does not support.
func writeNumber(e *jsontext.Encoder, n stdjson.Number) error {
	if n == "" {
		n = "0"
	}
	return e.WriteValue(jsontext.Value(n))
}

// DecodeJSON decodes one JSON value from a client, strictly. UTF-8 must be valid, no
// object may have a member twice, and each member must have exactly the name of a
// field. An integer may have any form that JSON Schema 2020-12 accepts: 1.0, 3.6e3.
// Numbers of free-form objects keep their text, as json.Number.
//
// The error is an *Error that names the member in Param and Message. Its code is
// CodeInvalidRequest if the text is not valid JSON, and CodeValidation if a value
// does not fit its field in v.
func DecodeJSON(text []byte, v any) error {
	if err := json.Unmarshal(text, v, readOptions); err != nil {
		return convertJSONError(err)
	}
	return nil
}

// DecodeLenient decodes like DecodeJSON, but ignores members without a field in v.
// It is for the responses of other services and of language models.
func DecodeLenient(text []byte, v any) error {
	if err := json.Unmarshal(text, v, readOptions, json.RejectUnknownMembers(false)); err != nil {
		return convertJSONError(err)
	}
	return nil
}

// CheckJSON checks the syntax of a JSON text and the range of its numbers as DecodeJSON
// does, without a type to decode into.
func CheckJSON(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(text))
	for {
		t, err := d.ReadToken()
		switch {
		case errors.Is(err, io.EOF):
			return syntaxError(&jsontext.SyntacticError{ByteOffset: int64(len(text)), Err: io.ErrUnexpectedEOF})
		case err != nil:
			return convertJSONError(err)
		case t.Kind() == jsontext.KindNumber && !inRange(t.String()):
			return valueError(&json.SemanticError{JSONPointer: d.StackPointer(), Err: errNumberRange})
		}
		if d.StackDepth() == 0 {
			break
		}
	}
	if rest := bytes.TrimLeft(text[d.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return syntaxError(&jsontext.SyntacticError{ByteOffset: int64(len(text) - len(rest)), Err: errFollows})
	}
	return nil
}

// inRange reports whether a float64 can hold a number approximately, without overflow
// and without underflow to 0. Larger numbers such as 1e999999999 are rejected, because
// exact arithmetic with them can take any amount of memory.
func inRange(number string) bool {
	f, err := strconv.ParseFloat(number, 64)
	if f == 0 {
		mantissa, _, _ := strings.Cut(strings.ToLower(number), "e")
		return err == nil && !strings.ContainsAny(mantissa, "123456789")
	}
	return err == nil
}

// readFree decodes a value of a free-form JSON object.
func readFree(d *jsontext.Decoder, v *any) (err error) {
	*v, err = readFreeValue(d)
	return err
}

func readContext(d *jsontext.Decoder, c *Context) error {
	if d.PeekKind() != jsontext.KindBeginObject {
		return errors.ErrUnsupported
	}
	v, err := readFreeObject(d)
	if *c == nil {
		*c = v
	} else {
		maps.Copy(*c, v) // an item over its defaults
	}
	return err
}

func readFreeValue(d *jsontext.Decoder) (any, error) {
	switch d.PeekKind() { //nolint:exhaustive // the other kinds are single tokens, read below
	case jsontext.KindNumber:
		text, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		n := stdjson.Number(text)
		if !inRange(string(n)) {
			return nil, &json.SemanticError{JSONPointer: d.StackPointer(), Err: errNumberRange}
		}
		return n, nil
	case jsontext.KindBeginObject:
		return readFreeObject(d)
	case jsontext.KindBeginArray:
		return readFreeArray(d)
	}
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() { //nolint:exhaustive // objects, lists and numbers are read above
	case jsontext.KindString:
		return t.String(), nil
	case jsontext.KindTrue, jsontext.KindFalse:
		return t.Bool(), nil
	}
	return nil, nil //nolint:nilnil // null
}

func readFreeObject(d *jsontext.Decoder) (map[string]any, error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	all := make(map[string]any)
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		member := name.String()
		if all[member], err = readFreeValue(d); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return all, err
}

func readFreeArray(d *jsontext.Decoder) (any, error) {
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	all := []any{}
	for d.PeekKind() != jsontext.KindEndArray {
		v, err := readFreeValue(d)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	_, err := d.ReadToken()
	return all, err
}

// readInteger decodes integers that are written with a fraction or an exponent. It leaves all other values to the
// JSON library.
func readInteger(d *jsontext.Decoder, v any) error {
	if d.PeekKind() != jsontext.KindNumber {
		return errors.ErrUnsupported
	}
	field := reflect.ValueOf(v).Elem()
	if !field.CanInt() && !field.CanUint() {
		return errors.ErrUnsupported
	}
	text, err := d.ReadValue()
	if err != nil {
		return err
	}
	digits, err := IntegerText(string(text))
	if err != nil {
		return err
	}
	if field.CanInt() {
		n, failed := strconv.ParseInt(digits, 10, field.Type().Bits())
		if failed != nil {
			return errNumberRange
		}
		field.SetInt(n)
		return nil
	}
	n, err := strconv.ParseUint(digits, 10, field.Type().Bits())
	if err != nil {
		return errNumberRange
	}
	field.SetUint(n)
	return nil
}

// IntegerText converts a JSON number with an integer value to digits without fraction and exponent. It supports at
// most 20 digits.
func IntegerText(number string) (string, error) {
	if !strings.ContainsAny(number, ".eE") {
		return number, nil
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	mantissa, negative := strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0", nil
	}
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil {
			return "", errNumberRange
		}
	}
	kept := strings.TrimRight(digits, "0")
	shift += len(digits) - len(kept) - len(fraction)
	const most = 20 // digits of the largest uint64
	switch {
	case shift < 0:
		return "", errNotInteger
	case shift > most || len(kept)+shift > most:
		return "", errNumberRange
	}
	digits = kept + strings.Repeat("0", shift)
	if negative {
		digits = "-" + digits
	}
	return digits, nil
}
