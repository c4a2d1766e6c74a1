package domain

import (
	"errors"
	"fmt"
	"maps"
)

// Code is an error code of the API, for example "validation_error".
type Code string

// The error codes of the API.
const (
	CodeInvalidRequest          Code = "invalid_request"
	CodeValidation              Code = "validation_error"
	CodeNotFound                Code = "not_found"
	CodeInvalidState            Code = "invalid_state"
	CodeIdempotencyConflict     Code = "idempotency_conflict"
	CodeIdempotencyMismatch     Code = "idempotency_mismatch"
	CodeAlreadyExists           Code = "already_exists"
	CodeNoContacts              Code = "no_contacts"
	CodeNoTrunk                 Code = "no_trunk"
	CodePayloadTooLarge         Code = "payload_too_large"
	CodeUnsupportedMedia        Code = "unsupported_media_type"
	CodeMethodNotAllowed        Code = "method_not_allowed"
	CodeInternal                Code = "internal_error"
	CodeUnavailable             Code = "unavailable"
	CodeStoreFull               Code = "store_full"
	CodeAuthenticationRequired  Code = "authentication_required"
	CodeInvalidAPIKey           Code = "invalid_api_key"
	CodeExpiredAPIKey           Code = "expired_api_key"
	CodeInvalidToken            Code = "invalid_token"
	CodeExpiredToken            Code = "expired_token"
	CodeInvalidTicket           Code = "invalid_ticket"
	CodeInvalidLink             Code = "invalid_link"
	CodeExpiredLink             Code = "expired_link"
	CodeInsufficientPermissions Code = "insufficient_permissions"
	CodeIPNotAllowed            Code = "ip_not_allowed"
	CodeOperatorRequired        Code = "operator_required"
	CodePlanRequired            Code = "plan_required"
	CodeRateLimit               Code = "rate_limit_exceeded"
	CodeConcurrentLimit         Code = "concurrent_limit_exceeded"
	CodeDNCBlocked              Code = "dnc_blocked"
	CodeFrequencyCap            Code = "frequency_cap_reached"
	CodeOutsideCallingHours     Code = "outside_calling_hours"
	CodeDestinationNotAllowed   Code = "destination_not_allowed"
	CodeSpendCap                Code = "spend_cap_reached"
	CodeExceedsPlan             Code = "exceeds_plan_limit"
	CodeCallerIDRequired        Code = "caller_id_required"
	CodeCallerIDNotAllowed      Code = "caller_id_not_allowed"
	CodeInvalidURL              Code = "invalid_url"
	CodeProcessing              Code = "processing"
	CodeSlotUnavailable         Code = "slot_unavailable"
	CodeNoSMSRoute              Code = "no_sms_route"
	CodeOptedOut                Code = "recipient_opted_out"
	CodeNoEngine                Code = "engine_not_configured"
)

// Detail is one problem with one field of a request.
type Detail struct {
	Param   string `json:"param"`
	Code    Code   `json:"code"`
	Message string `json:"message"`
}

// Error is an error that the API may show. It has a code, a sentence, the field that caused it, all validation
// problems in Details, and extra fields of some codes (active_calls, limit, retry_after, next_allowed_at,
// current_status …).
type Error struct {
	Code    Code
	Message string
	Param   string
	Details []Detail
	Extra   map[string]any
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Sentence returns the message as a complete sentence. The message of a validation error has no subject, so Sentence
// puts the name of the field in front.
func (e *Error) Sentence() string {
	if len(e.Details) == 0 || e.Param == "" {
		return e.Message
	}
	return e.Param + " " + e.Message
}

// Errorf returns an Error with a code and a formatted sentence.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// With returns a copy of the error with one extra field.
func (e *Error) With(key string, value any) *Error {
	c := *e
	c.Extra = make(map[string]any, len(e.Extra)+1)
	maps.Copy(c.Extra, e.Extra)
	c.Extra[key] = value
	return &c
}

// CodeOf returns the code of the *Error in the chain of err, or "".
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return ""
}

// ErrorText formats an error for models and events: code and message of an *Error, or the text of err.
func ErrorText(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return string(e.Code) + ": " + e.Message
	}
	return err.Error()
}

// Problems collects all validation problems of a request.
type Problems []Detail

// Add adds a problem with the field param. Its message is formatted like that of fmt.Sprintf.
func (p *Problems) Add(param string, code Code, format string, args ...any) {
	*p = append(*p, Detail{Param: param, Code: code, Message: fmt.Sprintf(format, args...)})
}

// Err returns the problems as one error, or nil if there are none. If all problems have the same code, the error has
// that code; otherwise it has validation_error.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	e := &Error{Code: CodeValidation, Message: p[0].Message, Param: p[0].Param, Details: p}
	code := p[0].Code
	for _, d := range p {
		if d.Code != code {
			code = CodeValidation
		}
	}
	e.Code = code
	switch more := len(p) - 1; more {
	case 0:
	case 1:
		e.Message += " (and 1 more problem)"
	default:
		e.Message = fmt.Sprintf("%s (and %d more problems)", p[0].Message, more)
	}
	return e
}

// The errors of the store that callers have to distinguish.
var (
	// ErrFenced means that another node owns the records of the workspace. The caller must stop writing.
	ErrFenced = errors.New("the owner of these rows has changed")
	// ErrBlobsUnavailable means that the blob store cannot be reached.
	ErrBlobsUnavailable = errors.New("the blob store is unavailable")
	// ErrStoreFull means that the disk of the store is full. Nothing was written.
	ErrStoreFull = errors.New("the disk of the store is full")
	// ErrConflict means that a guard of the change failed: a record has another version than required. Nothing was
	// written.
	ErrConflict = errors.New("a row has changed since it was read")
	// ErrNotFound means that the record does not exist.
	ErrNotFound = errors.New("no such record")
	// ErrDamaged means that the record exists but cannot be decoded.
	ErrDamaged = errors.New("a row is damaged")
)

// StoreFull returns the error for a request that cannot be written because the disk is full.
func StoreFull() *Error {
	return Errorf(CodeStoreFull, "the disk of the store is full and nothing can be written; free some disk space and try again").With("retry_after", storeFullRetry)
}

const storeFullRetry = 10 // seconds

// NotFound returns the error for an ID that does not exist.
func NotFound(resource string) error { return Errorf(CodeNotFound, "there is no such %s", resource) }

// FieldError returns the error for one field of a request.
func FieldError(param string, code Code, text string) error {
	var ps Problems
	ps.Add(param, code, "%s", text)
	return ps.Err()
}

// API error codes that only single operations return.
const (
	CodeCursorExpired Code = "cursor_expired" // 410: the event is older than the retention
	CodeInvalidCursor Code = "invalid_cursor" // 422: not a cursor of this list
	CodeExportExpired Code = "export_expired" // 410: the file of an export is deleted
)

// Codes of warnings in successful responses. A warning says that the resource needs attention.
const (
	// WarningSpendCap means that daily_spend_cap does not limit calls over a trunk that has no cost for some numbers.
	WarningSpendCap Code = "spend_cap_without_costs"
	// WarningTestEnvironment means that a test key created a resource that no call or message uses.
	WarningTestEnvironment Code = "test_environment"
)
