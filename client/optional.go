package client

import (
	"bytes"
	"encoding/json"
)

// Optional is a member of an update: left out, null or a value. The zero value
// is left out, which keeps what the service has stored. Null removes the member
// or resets it to its default.
type Optional[T any] struct {
	value T
	state optionalState
}

type optionalState byte

const (
	absent optionalState = iota
	isNull
	isSet
)

// Set is a member with a value.
func Set[T any](value T) Optional[T] { return Optional[T]{value: value, state: isSet} }

// Null is a member that is removed or reset to its default.
func Null[T any]() Optional[T] { return Optional[T]{state: isNull} }

// Get is the value, and whether there is one.
func (o Optional[T]) Get() (value T, ok bool) { return o.value, o.state == isSet }

// IsNull reports whether the member is null.
func (o Optional[T]) IsNull() bool { return o.state == isNull }

// IsZero reports whether the member is left out.
func (o Optional[T]) IsZero() bool { return o.state == absent }

// MarshalJSON writes the value or null. Members that are left out have the
// option omitzero, and are not written.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if o.state != isSet {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON reads a value or null.
func (o *Optional[T]) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*o = Null[T]()
		return nil
	}
	o.state = isSet
	return decodeJSON(bytes.NewReader(text), &o.value)
}
