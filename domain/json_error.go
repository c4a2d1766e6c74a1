package domain

import (
	"errors"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var (
	errNumberRange = errors.New("the number is out of range")
	errNotInteger  = errors.New("the number must be an integer")
	errFollows     = errors.New("unexpected data after the value")
)

// convertJSONError converts an error of the JSON library to an *Error with a message for
// the API's clients.
func convertJSONError(err error) error {
	if e, known := errors.AsType[*Error](err); known {
		return e
	}
	if e, cause := errors.AsType[*jsontext.SyntacticError](err); cause {
		return syntaxError(e)
	}
	if e, cause := errors.AsType[*json.SemanticError](err); cause {
		return valueError(e)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return Errorf(CodeInvalidRequest, "The JSON is incomplete.")
	}
	return Errorf(CodeInvalidRequest, "The JSON cannot be read.")
}

func syntaxError(cause *jsontext.SyntacticError) *Error {
	e := &Error{Code: CodeInvalidRequest, Param: memberPath(cause.JSONPointer)}
	at := strconv.FormatInt(cause.ByteOffset, 10)
	switch {
	case errors.Is(cause.Err, jsontext.ErrDuplicateName):
		e.Message = "The member " + e.Param + " is given more than once."
	case errors.Is(cause.Err, io.ErrUnexpectedEOF):
		e.Message = "The JSON is incomplete: it ends at byte " + at + "."
		e.Param = ""
	case strings.Contains(cause.Err.Error(), "invalid UTF-8"):
		e.Message = withPath("The JSON is not valid UTF-8", e.Param) + ", at byte " + at + "."
	case strings.Contains(cause.Err.Error(), "surrogate pair"):
		e.Message = withPath("The JSON has half of a surrogate pair", e.Param) + ", at byte " + at + "."
	default:
		e.Message = withPath("The JSON is not valid", e.Param) + ", at byte " + at + "."
	}
	return e
}

// valueError returns the error for a value that does not fit its field. The code is
// CodeValidation, and Param is the path of the member.
func valueError(cause *json.SemanticError) error {
	var p Problems
	param := memberPath(cause.JSONPointer)
	switch {
	case errors.Is(cause.Err, json.ErrUnknownName):
		p.Add(param, CodeValidation, "is not a known member")
	case errors.Is(cause.Err, errNotInteger):
		p.Add(param, CodeValidation, "must be an integer")
	case errors.Is(cause.Err, errNumberRange), errors.Is(cause.Err, strconv.ErrRange):
		p.Add(param, CodeValidation, "is out of range")
	default:
		p.Add(param, CodeValidation, "must be %s", kindName(cause.GoType))
	}
	if param == "" {
		p[0].Message = "the value " + p[0].Message
	}
	return p.Err()
}

func withPath(sentence, path string) string {
	if path == "" {
		return sentence
	}
	return sentence + " in " + path
}

// kindName names the kind of JSON value that a field of type t accepts, for example "a string".
func kindName(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil {
		return "of another kind"
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map:
		return "an object"
	case reflect.Struct:
		if t.PkgPath() == "time" {
			return "a time as of RFC 3339, e.g. 2026-01-31T09:30:00Z"
		}
		return "an object"
	}
	return "an integer"
}

// memberPath converts a JSON Pointer to the path that error details show, for example contacts[0].phone. Paths over
// 200 bytes are truncated.
func memberPath(p jsontext.Pointer) string {
	const longest = 200
	var b strings.Builder
	for token := range p.Tokens() {
		if b.Len()+len(token) > longest {
			b.WriteString("…")
			break
		}
		if _, err := strconv.ParseUint(token, 10, 32); err == nil && b.Len() > 0 {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	return b.String()
}
