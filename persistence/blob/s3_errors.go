package blob

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/minio/minio-go/v7"
)

// storeError is an error response of the object store.
type storeError struct{ minio.ErrorResponse }

func (e *storeError) Error() string {
	var hint string
	switch {
	case e.Code == "RequestTimeTooSkewed":
		hint = " (the clock of this machine is wrong)"
	case e.Region != "" && (e.Code == minio.AuthorizationHeaderMalformed || e.StatusCode == http.StatusMovedPermanently || e.StatusCode == http.StatusTemporaryRedirect):
		hint = " (the bucket is in region " + e.Region + ")"
	}
	return fmt.Sprintf("the store answers %d %s: %s", e.StatusCode, e.Code, e.ErrorResponse.Error()) + hint
}

// isTransient reports whether the same request may succeed soon.
func (e *storeError) isTransient() bool {
	switch e.Code {
	case "RequestTimeout", "OperationAborted", "SlowDown", "InternalError", "ServiceUnavailable":
		return true
	}
	return e.StatusCode >= 500 && e.StatusCode != http.StatusNotImplemented || e.StatusCode == http.StatusTooManyRequests || e.StatusCode == http.StatusRequestTimeout
}

// unavailableError says that the store did not answer, or that it cannot serve the request now. The store may
// nevertheless have carried the request out.
type unavailableError struct {
	after time.Duration // time after which requests are allowed again
	cause error
}

func (e *unavailableError) Error() string { return "the store is unavailable: " + e.cause.Error() }

func (e *unavailableError) Unwrap() error { return e.cause }

// sanitizeError removes the URL from an error of minio-go. It reduces a text of the store to one short line without
// the session token.
func sanitizeError(err error, token string) error {
	if e, ok := errors.AsType[minio.ErrorResponse](err); ok {
		e.Code, e.Message, e.Region = sanitizeText(e.Code, token), sanitizeText(e.Message, token), sanitizeText(e.Region, token)
		return &storeError{e}
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// isPermanent reports whether retrying is useless, because the store refused the request or its certificate is not
// trusted. An unknown host name counts as temporary, because it is temporary in many networks.
func isPermanent(err error) bool {
	if e, ok := errors.AsType[*storeError](err); ok {
		return !e.isTransient()
	}
	_, untrusted := errors.AsType[*tls.CertificateVerificationError](err)
	return untrusted || errors.Is(err, errRange)
}

// isNotFound reports whether an error says that there is no such object or upload.
func isNotFound(err error) bool {
	e, ok := errors.AsType[*storeError](err)
	return ok && (e.Code == minio.NoSuchKey || e.Code == minio.NoSuchUpload)
}

const maxMessage = 200

func sanitizeText(text, token string) string {
	if token != "" {
		text = strings.ReplaceAll(text, token, "[hidden]")
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
