package domain

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"time"
)

// JSONAppender is a value that writes itself as JSON: byte for byte what
// encoding/json makes of it, for less.
type JSONAppender interface {
	AppendJSON(b []byte) ([]byte, error)
}

var errNoJSON = errors.New("domain: a value that JSON cannot say")

// JSONObject writes an object, field by field. Names are plain words. The first
// error stays.
type JSONObject struct {
	b    []byte
	full bool
	err  error
}

// AppendObject begins an object behind b.
func AppendObject(b []byte) JSONObject { return JSONObject{b: append(b, '{')} }

// End closes the object.
func (o *JSONObject) End() ([]byte, error) {
	if o.err != nil {
		return nil, o.err
	}
	return append(o.b, '}'), nil
}

func (o *JSONObject) name(name string) {
	if o.full {
		o.b = append(o.b, ',')
	}
	o.full = true
	o.b = append(append(append(o.b, '"'), name...), '"', ':')
}

// Text writes a text.
func (o *JSONObject) Text(name, s string) {
	o.name(name)
	o.b = appendText(o.b, s)
}

// Word writes a text that is not empty.
func (o *JSONObject) Word(name, s string) {
	if s != "" {
		o.Text(name, s)
	}
}

// Int writes a number.
func (o *JSONObject) Int(name string, n int64) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, n, 10)
}

// Count writes a number that is never negative.
func (o *JSONObject) Count(name string, n uint64) {
	o.name(name)
	o.b = strconv.AppendUint(o.b, n, 10)
}

// Some writes a number that is not 0.
func (o *JSONObject) Some(name string, n int64) {
	if n != 0 {
		o.Int(name, n)
	}
}

// Bool writes a truth value.
func (o *JSONObject) Bool(name string, is bool) {
	o.name(name)
	o.b = strconv.AppendBool(o.b, is)
}

// Float writes a number with a fraction.
func (o *JSONObject) Float(name string, f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		o.err = errors.Join(o.err, errNoJSON)
		return
	}
	if size := math.Abs(f); f != 0 && (size < 1e-6 || size >= 1e21) { // encoding/json has another shape for these
		o.Any(name, f)
		return
	}
	o.name(name)
	o.b = strconv.AppendFloat(o.b, f, 'f', -1, 64)
}

// Time writes a point in time.
func (o *JSONObject) Time(name string, t time.Time) {
	o.name(name)
	b, err := t.AppendText(append(o.b, '"'))
	if err != nil {
		o.err = errors.Join(o.err, err)
		return
	}
	o.b = append(b, '"')
}

// Moment writes a point in time, or null.
func (o *JSONObject) Moment(name string, t *time.Time) {
	if t == nil {
		o.Null(name)
		return
	}
	o.Time(name, *t)
}

// when writes a point in time that is known.
func (o *JSONObject) when(name string, t *time.Time) {
	if t != nil {
		o.Time(name, *t)
	}
}

// Null writes null.
func (o *JSONObject) Null(name string) {
	o.name(name)
	o.b = append(o.b, "null"...)
}

// Raw writes what is JSON already.
func (o *JSONObject) Raw(name string, text []byte) {
	o.name(name)
	o.b = append(o.b, text...)
}

// Object writes a value that writes itself.
func (o *JSONObject) Object(name string, v JSONAppender) {
	o.name(name)
	o.element(v)
}

// Inner writes an object within.
func (o *JSONObject) Inner(name string, write func(in *JSONObject)) {
	o.name(name)
	o.b, o.full = append(o.b, '{'), false
	write(o)
	o.b, o.full = append(o.b, '}'), true
}

// Any writes whatever is too rare for words of its own.
func (o *JSONObject) Any(name string, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		o.err = errors.Join(o.err, err)
		return
	}
	o.Raw(name, text)
}

func (o *JSONObject) element(v JSONAppender) {
	b, err := v.AppendJSON(o.b)
	if err != nil {
		o.err = errors.Join(o.err, err)
		return
	}
	o.b = b
}

// jsonList writes a list of values that write themselves; nil: null.
func jsonList[T any, P interface {
	*T
	JSONAppender
}](o *JSONObject, name string, all []T) {
	if all == nil {
		o.Null(name)
		return
	}
	o.name(name)
	o.b = append(o.b, '[')
	for i := range all {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.element(P(&all[i]))
	}
	o.b = append(o.b, ']')
}

// texts writes a list of texts; nil: null.
func (o *JSONObject) texts(name string, all []string) {
	if all == nil {
		o.Null(name)
		return
	}
	o.name(name)
	o.b = append(o.b, '[')
	for i, text := range all {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendText(o.b, text)
	}
	o.b = append(o.b, ']')
}

// appendText writes a text; one with anything but plain characters as
// encoding/json does.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			text, err := json.Marshal(s)
			if err != nil { // never of a text
				return append(b, `""`...)
			}
			return append(b, text...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
