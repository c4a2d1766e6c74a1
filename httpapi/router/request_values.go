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

// SetIfSent copies a value that the client has sent. nil changes nothing.
func SetIfSent[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

// Optional converts an object that the client has sent. It returns nil if the object is missing or all its members
// are zero.
func Optional[T, N any](sent *N, convert func(N) T) *T {
	if sent == nil || reflect.ValueOf(*sent).IsZero() {
		return nil
	}
	v := convert(*sent)
	return &v
}

// IsDefault reports whether every member of an object is zero or has its default.
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

// Seconds returns n seconds. n == 0 stands for otherwise seconds.
func Seconds(n, otherwise int) time.Duration {
	if n == 0 {
		n = otherwise
	}
	return time.Duration(n) * time.Second
}

// CheckRange adds a problem if a number was sent and is out of bounds.
func CheckRange(problems *domain.Problems, param string, n *int, low, high int) {
	if n != nil && (*n < low || *n > high) {
		problems.Add(param, domain.CodeValidation, "is %d; it must be from %d to %d", *n, low, high)
	}
}

// OptionalPhone checks a telephone number that filters a list. It accepts a leading space for a plus, because URL
// decoding turns a plus into a space.
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

// Truncate returns at most most bytes of a text, as valid UTF-8.
func Truncate(s string, most int) string {
	if len(s) > most {
		s = s[:most]
	}
	return strings.ToValidUTF8(s, "")
}
