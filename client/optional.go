package client

import (
	"bytes"
	"encoding/json"
)

// Optional is a field of an update request that is omitted, null or has a value. The zero Optional is omitted, so the
// service keeps the stored value. Null removes the stored value or resets it to its default.
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

// Set returns an Optional with a value.
func Set[T any](value T) Optional[T] { return Optional[T]{value: value, state: isSet} }

// Null returns an Optional with which the service removes the stored value or resets it to its default.
func Null[T any]() Optional[T] { return Optional[T]{state: isNull} }

// Get returns the value. ok is false if the Optional is omitted or null.
func (o Optional[T]) Get() (value T, ok bool) { return o.value, o.state == isSet }

// IsNull reports whether the Optional is null.
func (o Optional[T]) IsNull() bool { return o.state == isNull }

// IsZero reports whether the Optional is omitted.
func (o Optional[T]) IsZero() bool { return o.state == absent }

// MarshalJSON returns the value or null. It is not called for an omitted Optional, because the struct fields have the
// JSON option omitzero.
func (o Optional[T]) MarshalJSON() ([]byte, error) {
	if o.state != isSet {
		return []byte("null"), nil
	}
	return json.Marshal(o.value)
}

// UnmarshalJSON decodes a value or null.
func (o *Optional[T]) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*o = Null[T]()
		return nil
	}
	o.state = isSet
	return decodeJSON(bytes.NewReader(text), &o.value)
}
