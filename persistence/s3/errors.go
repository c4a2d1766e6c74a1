package s3

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode"
)

// Error is what the store answered instead of doing what it was asked.
type Error struct {
	Status  int    // of HTTP
	Code    string // the store's word for it, e.g. AccessDenied; may be empty
	Message string
	Region  string // where the bucket lies, if the store says that it is elsewhere
}

func (e *Error) Error() string {
	var hint string
	switch {
	case e.Code == "RequestTimeTooSkewed":
		hint = " (the clock of this machine is wrong)"
	case e.Region != "":
		hint = " (the bucket lies in region " + e.Region + ")"
	}
	return strings.TrimRight(fmt.Sprintf("the store answers %d %s: %s", e.Status, e.Code, e.Message), ": ") + hint
}

// AwayError says that the store did not answer, or answered that it cannot now. Nothing
// is known of what it was asked to change.
type AwayError struct {
	After time.Duration // when it is worth asking again
	Cause error
}

func (e *AwayError) Error() string { return "the store is away: " + e.Cause.Error() }

func (e *AwayError) Unwrap() error { return e.Cause }

// Missing says whether there is no object, or no upload, of that name.
func Missing(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Status == http.StatusNotFound && (e.Code == "NoSuchKey" || e.Code == "NoSuchUpload")
}

// status is the HTTP status of an answer, or 0.
func status(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return 0
}

// Outside says whether a range lies outside of the object.
func Outside(err error) bool { return status(err) == http.StatusRequestedRangeNotSatisfiable }

// passing says whether the same request may be answered otherwise soon.
func (e *Error) passing() bool {
	switch e.Code {
	case "RequestTimeout", "OperationAborted", "SlowDown", "InternalError", "ServiceUnavailable":
		return true
	case "NotImplemented":
		return false
	}
	return e.Status >= 500 && e.Status != http.StatusNotImplemented || e.Status == http.StatusTooManyRequests || e.Status == http.StatusRequestTimeout
}

const (
	maxProblem = 64 << 10
	maxMessage = 200
)

// problem reads an answer that is none. One that breaks off says nothing: 404
// alone may be a bucket that is not there.
func problem(r *http.Response, secret string) error {
	e := &Error{Status: r.StatusCode, Region: r.Header.Get("X-Amz-Bucket-Region")}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxProblem))
	if err != nil {
		return err
	}
	var body struct {
		XMLName xml.Name `xml:"Error"`
		Code    string   `xml:"Code"`
		Message string   `xml:"Message"`
		Region  string   `xml:"Region"`
	}
	if xml.Unmarshal(text, &body) == nil {
		e.Code, e.Message = clean(body.Code, secret), clean(body.Message, secret)
		if e.Region == "" {
			e.Region = clean(body.Region, secret)
		}
	}
	if r.StatusCode != http.StatusMovedPermanently && r.StatusCode != http.StatusTemporaryRedirect && e.Code != "AuthorizationHeaderMalformed" {
		e.Region = ""
	}
	if e.Message == "" {
		e.Message = http.StatusText(r.StatusCode)
	}
	return e
}

// clean makes what a stranger wrote one short line without our token.
func clean(text, secret string) string {
	if secret != "" {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(text); len(runes) > maxMessage {
		text = string(runes[:maxMessage]) + "…"
	}
	return text
}
