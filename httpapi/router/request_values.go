package router

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
)

// ValueOrZero is the value of a pointer; the zero value where it is nil.
func ValueOrZero[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// SetIfSent copies what was sent.
func SetIfSent[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

// Optional is the value of an object; nil where it is left out or says nothing.
func Optional[T, N any](sent *N, convert func(N) T) *T {
	if sent == nil || reflect.ValueOf(*sent).IsZero() {
		return nil
	}
	v := convert(*sent)
	return &v
}

// IsDefault says whether an object that was sent has nothing but what is
// filled in where nothing is said.
func IsDefault(sent any) bool {
	v := reflect.ValueOf(sent)
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() && fmt.Sprint(f) != v.Type().Field(i).Tag.Get("default") {
			return false
		}
	}
	return true
}

// UTC returns a time in UTC; nil stays nil.
func UTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// Seconds returns n seconds; 0: the default.
func Seconds(n, otherwise int) time.Duration {
	if n == 0 {
		n = otherwise
	}
	return time.Duration(n) * time.Second
}

// CheckRange refuses a number that is given and not within bounds.
func CheckRange(problems *domain.Problems, param string, n *int, low, high int) {
	if n != nil && (*n < low || *n > high) {
		problems.Add(param, domain.CodeValidation, "is %d; it must be from %d to %d", *n, low, high)
	}
}

// OptionalPhone checks a number that a query filters by. In a query a plus is
// often read as a space.
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

// Truncate returns at most so many bytes of a text, in valid UTF-8.
func Truncate(s string, most int) string {
	if len(s) > most {
		s = s[:most]
	}
	return strings.ToValidUTF8(s, "")
}
