// Package wire tells what is sure of a request before the library reads it:
// that its body is good, that whoever sent it has gone.
package wire

import (
	"bytes"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"
)

// Shape is what the schema of a body comes to for a reader that makes nothing
// of what it reads: it says of most good bodies that they are good, and of no
// bad one. What it is not sure of is for the library to judge, which also finds
// the words for what is wrong.
type Shape struct {
	kind     jsontext.Kind // of the value; 0: nothing is sure
	whatever bool          // any value is good
	null     bool          // so is null

	names    map[string]int // of an object's members, the places of their shapes
	members  []*Shape
	required uint64 // members that must be there
	filled   uint64 // members with a default, which would have to be filled in, for what is zero too
	others   *Shape // of members with other names; nil: there are none

	items     *Shape // of a list
	least     int    // items, or letters
	most      int    // the same; 0: no bound
	words     [][]byte
	whole     bool // a number without a fraction
	low, high *float64
}

// deepest is how far a body is followed.
const deepest = 32

// Shapes makes shapes of schemas, each once: a schema may contain itself.
type Shapes struct {
	registry huma.Registry
	known    map[*huma.Schema]*Shape
}

// NewShapes makes shapes of schemas whose references the registry resolves.
func NewShapes(registry huma.Registry) *Shapes {
	return &Shapes{registry: registry, known: make(map[*huma.Schema]*Shape)}
}

// Of is the shape of a schema.
func (m *Shapes) Of(s *huma.Schema) *Shape {
	for s != nil && s.Ref != "" {
		s = m.registry.SchemaFromRef(s.Ref)
	}
	if s == nil {
		return &Shape{}
	}
	if have := m.known[s]; have != nil {
		return have
	}
	made := &Shape{null: s.Nullable}
	m.known[s] = made
	if s.OneOf != nil || s.AnyOf != nil || s.AllOf != nil || s.Not != nil || s.Const != nil || s.ReadOnly || s.WriteOnly {
		return made
	}
	switch s.Type {
	case "":
		made.whatever = len(s.Enum) == 0
	case huma.TypeBoolean:
		if len(s.Enum) == 0 {
			made.kind = jsontext.KindTrue
		}
	case huma.TypeNumber, huma.TypeInteger:
		m.number(made, s)
	case huma.TypeString:
		m.text(made, s)
	case huma.TypeArray:
		if !s.UniqueItems && len(s.Enum) == 0 {
			made.kind, made.items = jsontext.KindBeginArray, m.Of(s.Items)
			made.least, made.most = boundsOf(s.MinItems, s.MaxItems)
		}
	case huma.TypeObject:
		m.object(made, s)
	}
	return made
}

func boundsOf(least, most *int) (from, to int) {
	if least != nil {
		from = *least
	}
	if most != nil {
		to = *most
	}
	return from, to
}

func (m *Shapes) number(made *Shape, s *huma.Schema) {
	if len(s.Enum) > 0 || s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil || s.MultipleOf != nil {
		return
	}
	made.kind, made.whole = jsontext.KindNumber, s.Type == huma.TypeInteger
	made.low, made.high = s.Minimum, s.Maximum
}

func (m *Shapes) text(made *Shape, s *huma.Schema) {
	if s.Pattern != "" || s.Format != "" || s.ContentEncoding != "" {
		return
	}
	for _, word := range s.Enum {
		plain, ok := word.(string)
		if !ok {
			return
		}
		made.words = append(made.words, []byte(strconv.Quote(plain)))
	}
	made.kind = jsontext.KindString
	made.least, made.most = boundsOf(s.MinLength, s.MaxLength)
}

func (m *Shapes) object(made *Shape, s *huma.Schema) {
	const places = 64
	if s.MinProperties != nil || s.MaxProperties != nil || len(s.DependentRequired) > 0 || len(s.Properties) > places || len(s.Enum) > 0 {
		return
	}
	made.names = make(map[string]int, len(s.Properties))
	for name, of := range s.Properties {
		at := len(made.members)
		made.names[name] = at
		made.members = append(made.members, m.Of(of))
		if slices.Contains(s.Required, name) {
			made.required |= 1 << at
		}
		if of.Default != nil {
			made.filled |= 1 << at
		}
	}
	switch others := s.AdditionalProperties.(type) {
	case *huma.Schema:
		made.others = m.Of(others)
	case bool:
		if others {
			made.others = &Shape{whatever: true}
		}
	default:
		made.others = &Shape{whatever: true}
	}
	made.kind = jsontext.KindBeginObject
}

// mostKept is the length of a body whose reader is used again: a reader keeps
// the names of objects in objects.
const mostKept = 4 << 10

// readers read the texts of bodies.
var readers = sync.Pool{New: func() any { return jsontext.NewDecoder(new(bytes.Buffer)) }} //nolint:gochecknoglobals // a pool

// Fits says that a body is good; false: it may be.
func (s *Shape) Fits(text []byte) bool {
	d, ok := readers.Get().(*jsontext.Decoder)
	if !ok {
		return false
	}
	d.Reset(bytes.NewBuffer(text))
	good := s.good(d, 0) && len(bytes.TrimSpace(text[d.InputOffset():])) == 0
	if len(text) <= mostKept {
		d.Reset(new(bytes.Buffer)) // keeps nobody's text
		readers.Put(d)
	}
	return good
}

func (s *Shape) good(d *jsontext.Decoder, depth int) bool {
	kind := d.PeekKind()
	switch {
	case depth > deepest:
		return false
	case s.whatever, s.null && kind == jsontext.KindNull:
		return d.SkipValue() == nil
	case kind == jsontext.KindFalse:
		kind = jsontext.KindTrue
	}
	if kind == 0 || kind != s.kind {
		return false
	}
	if kind == jsontext.KindBeginObject {
		return s.goodObject(d, depth)
	}
	if kind == jsontext.KindBeginArray {
		return s.goodList(d, depth)
	}
	text, err := d.ReadValue()
	if err != nil {
		return false
	}
	if kind == jsontext.KindString {
		return s.goodText(text)
	}
	return kind != jsontext.KindNumber || s.goodNumber(string(text))
}

func (s *Shape) goodObject(d *jsontext.Decoder, depth int) bool {
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	var seen uint64
	for d.PeekKind() == jsontext.KindString {
		name, err := d.ReadValue()
		if err != nil || bytes.IndexByte(name, '\\') >= 0 {
			return false
		}
		at, known := s.names[string(name[1:len(name)-1])]
		of := s.others
		if known {
			seen |= 1 << at
			of = s.members[at]
		}
		switch {
		case of == nil:
			return false
		case known && s.filled>>at&1 == 1:
			if !of.goodInstead(d) {
				return false
			}
		case !of.good(d, depth+1):
			return false
		}
	}
	_, err := d.ReadToken()
	return err == nil && (s.required|s.filled)&^seen == 0
}

// Unfilled is a body of whose own members none has to be filled in.
func (s *Shape) Unfilled() *Shape {
	own := *s
	own.filled = 0
	return &own
}

// goodInstead judges what stands in place of a default. One is filled in for
// what is zero, so that is for the library.
func (s *Shape) goodInstead(d *jsontext.Decoder) bool {
	text, err := d.ReadValue()
	switch {
	case err != nil:
		return false
	case s.kind == jsontext.KindTrue:
		return string(text) == "true"
	case s.kind == jsontext.KindString:
		return text.Kind() == jsontext.KindString && len(text) > len(`""`) && s.goodText(text)
	case s.kind == jsontext.KindNumber && text.Kind() == jsontext.KindNumber:
		n, err := strconv.ParseFloat(string(text), 64)
		return err == nil && n != 0 && s.goodNumber(string(text))
	}
	return false
}

func (s *Shape) goodList(d *jsontext.Decoder, depth int) bool {
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	n := 0
	for d.PeekKind() != jsontext.KindEndArray {
		if n++; !s.items.good(d, depth+1) {
			return false
		}
	}
	_, err := d.ReadToken()
	return err == nil && n >= s.least && (s.most == 0 || n <= s.most)
}

// goodText judges a text by its quoted spelling, which is never shorter than
// the text.
func (s *Shape) goodText(quoted []byte) bool {
	if len(s.words) > 0 {
		return slices.ContainsFunc(s.words, func(w []byte) bool { return bytes.Equal(w, quoted) })
	}
	if s.most > 0 && len(quoted)-2 > s.most {
		return false
	}
	return s.least == 0 || s.least == 1 && len(quoted) > 2
}

func (s *Shape) goodNumber(text string) bool {
	const sure = 15 // digits that a float64 keeps
	if len(text) > sure || s.whole && strings.ContainsAny(text, ".eE") {
		return false
	}
	n, err := strconv.ParseFloat(text, 64)
	return err == nil && (s.low == nil || n >= *s.low) && (s.high == nil || n <= *s.high)
}

// FillsWithin says whether a type has defaults in structs that are there
// whether they were sent or not: nothing in a body shows that they are to be
// filled in.
func FillsWithin(t reflect.Type, seen map[reflect.Type]bool) bool {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] || t == reflect.TypeFor[time.Time]() {
		return false
	}
	seen[t] = true
	for f := range t.Fields() {
		if f.Type.Kind() == reflect.Struct && !f.Anonymous && hasDefaults(f.Type) || FillsWithin(f.Type, seen) {
			return true
		}
	}
	return false
}

func hasDefaults(t reflect.Type) bool {
	for f := range t.Fields() {
		if f.Tag.Get("default") != "" || f.Type.Kind() == reflect.Struct && hasDefaults(f.Type) {
			return true
		}
	}
	return false
}
