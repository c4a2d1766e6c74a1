package router

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
)

// ValueOrZero returns the value of a pointer, and the zero value for nil.
func ValueOrZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// SetIfSent copies *from to *into if the client has sent the value, that is if from is not nil.
func SetIfSent[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

// Optional converts an optional object of a request body. It returns nil if the object is missing or all its members
// are zero.
func Optional[T, N any](sent *N, convert func(N) T) *T {
	if sent == nil || reflect.ValueOf(*sent).IsZero() {
		return nil
	}
	v := convert(*sent)
	return &v
}

// IsDefault reports whether every field of a struct is zero or equals the default in its tag.
func IsDefault(sent any) bool {
	v := reflect.ValueOf(sent)
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() && fmt.Sprint(f) != v.Type().Field(i).Tag.Get("default") {
			return false
		}
	}
	return true
}

// UTC returns a time in UTC, and nil for nil.
func UTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// Seconds returns n seconds, or otherwise seconds if n is 0.
func Seconds(n, otherwise int) time.Duration {
	if n == 0 {
		n = otherwise
	}
	return time.Duration(n) * time.Second
}

// CheckRange adds a problem if n was sent and is less than low or greater than high.
func CheckRange(problems *domain.Problems, param string, n *int, low, high int) {
	if n != nil && (*n < low || *n > high) {
		problems.Add(param, domain.CodeValidation, "is %d; it must be from %d to %d", *n, low, high)
	}
}

// OptionalPhone checks a telephone number that filters a list, "" for no filter. It accepts a leading space as a plus,
// because URL decoding turns a plus into a space.
func OptionalPhone(param, text, country string) (string, error) {
	if text == "" {
		return "", nil
	}
	if text[0] == ' ' {
		text = "+" + text[1:]
	}
	var p domain.Problems
	e164 := validation.Phone(&p, param, text, country)
	return e164, p.Err()
}

// Truncate shortens a text to at most most bytes and returns valid UTF-8.
func Truncate(s string, most int) string {
	if len(s) > most {
		s = s[:most]
	}
	return strings.ToValidUTF8(s, "")
}
