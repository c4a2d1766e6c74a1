package router

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
)

// Error codes that only the HTTP layer returns.
const (
	CodeOriginNotAllowed    domain.Code = "origin_not_allowed"
	codeNotAcceptable       domain.Code = "not_acceptable"
	CodeRequestTimeout      domain.Code = "request_timeout"
	CodeHeadersTooLarge     domain.Code = "headers_too_large"
	CodeRangeNotSatisfiable domain.Code = "range_not_satisfiable"
	CodeUpgradeRequired     domain.Code = "upgrade_required"
	// codeUnknownParameter reports a query parameter that the route does not have.
	codeUnknownParameter domain.Code = "unknown_parameter"
)

// statuses returns the HTTP status of each error code.
func statuses() map[domain.Code]int {
	return map[domain.Code]int{
		domain.CodeInvalidRequest:          http.StatusBadRequest,
		domain.CodeValidation:              http.StatusUnprocessableEntity,
		domain.CodeExceedsPlan:             http.StatusUnprocessableEntity,
		domain.CodeCallerIDRequired:        http.StatusUnprocessableEntity,
		domain.CodeCallerIDNotAllowed:      http.StatusUnprocessableEntity,
		domain.CodeInvalidURL:              http.StatusUnprocessableEntity,
		domain.CodeIdempotencyMismatch:     http.StatusUnprocessableEntity,
		domain.CodeInvalidCursor:           http.StatusUnprocessableEntity,
		domain.CodeNotFound:                http.StatusNotFound,
		domain.CodeInvalidState:            http.StatusConflict,
		domain.CodeIdempotencyConflict:     http.StatusConflict,
		domain.CodeAlreadyExists:           http.StatusConflict,
		domain.CodeNoContacts:              http.StatusConflict,
		domain.CodeNoTrunk:                 http.StatusConflict,
		domain.CodeSlotUnavailable:         http.StatusConflict,
		domain.CodeNoSMSRoute:              http.StatusConflict,
		domain.CodeOptedOut:                http.StatusForbidden,
		domain.CodeNoEngine:                http.StatusConflict,
		domain.CodeCursorExpired:           http.StatusGone,
		domain.CodeExportExpired:           http.StatusGone,
		domain.CodePayloadTooLarge:         http.StatusRequestEntityTooLarge,
		domain.CodeUnsupportedMedia:        http.StatusUnsupportedMediaType,
		domain.CodeMethodNotAllowed:        http.StatusMethodNotAllowed,
		domain.CodeInternal:                http.StatusInternalServerError,
		domain.CodeUnavailable:             http.StatusServiceUnavailable,
		domain.CodeStoreFull:               http.StatusServiceUnavailable,
		domain.CodeAuthenticationRequired:  http.StatusUnauthorized,
		domain.CodeInvalidAPIKey:           http.StatusUnauthorized,
		domain.CodeExpiredAPIKey:           http.StatusUnauthorized,
		domain.CodeInvalidToken:            http.StatusUnauthorized,
		domain.CodeExpiredToken:            http.StatusUnauthorized,
		domain.CodeInvalidTicket:           http.StatusUnauthorized,
		domain.CodeInvalidLink:             http.StatusUnauthorized,
		domain.CodeExpiredLink:             http.StatusUnauthorized,
		domain.CodeInsufficientPermissions: http.StatusForbidden,
		domain.CodeIPNotAllowed:            http.StatusForbidden,
		domain.CodeOperatorRequired:        http.StatusForbidden,
		domain.CodeDNCBlocked:              http.StatusForbidden,
		domain.CodeFrequencyCap:            http.StatusForbidden,
		domain.CodeOutsideCallingHours:     http.StatusForbidden,
		domain.CodeDestinationNotAllowed:   http.StatusForbidden,
		domain.CodeSpendCap:                http.StatusForbidden,
		CodeOriginNotAllowed:               http.StatusForbidden,
		domain.CodePlanRequired:            http.StatusForbidden,
		domain.CodeRateLimit:               http.StatusTooManyRequests,
		domain.CodeConcurrentLimit:         http.StatusTooManyRequests,
		domain.CodeProcessing:              http.StatusAccepted,
		codeUnknownParameter:               http.StatusUnprocessableEntity,
		codeNotAcceptable:                  http.StatusNotAcceptable,
		CodeRequestTimeout:                 http.StatusRequestTimeout,
		CodeHeadersTooLarge:                http.StatusRequestHeaderFieldsTooLarge,
		CodeRangeNotSatisfiable:            http.StatusRequestedRangeNotSatisfiable,
		CodeUpgradeRequired:                http.StatusUpgradeRequired,
	}
}

// statusOf returns the HTTP status of an error code. Codes without an entry in statuses are validation errors: 422.
func statusOf(code domain.Code) int {
	if status, ok := statuses()[code]; ok {
		return status
	}
	return http.StatusUnprocessableEntity
}

// StatusOfError returns the HTTP status of the response to an error of a handler.
func StatusOfError(err error) int {
	if ready, ok := errors.AsType[*Failure](err); ok {
		return ready.Status
	}
	if code := domain.CodeOf(err); code != "" {
		return statusOf(code)
	}
	if errors.Is(err, domain.ErrNotFound) {
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

// CodeOfStatus returns the error code for an error that has only an HTTP status.
func CodeOfStatus(status int) domain.Code {
	switch status {
	case http.StatusBadRequest:
		return domain.CodeInvalidRequest
	case http.StatusNotFound:
		return domain.CodeNotFound
	case http.StatusMethodNotAllowed:
		return domain.CodeMethodNotAllowed
	case http.StatusNotAcceptable:
		return codeNotAcceptable
	case http.StatusRequestTimeout:
		return CodeRequestTimeout
	case http.StatusRequestEntityTooLarge:
		return domain.CodePayloadTooLarge
	case http.StatusUnsupportedMediaType:
		return domain.CodeUnsupportedMedia
	case http.StatusUnprocessableEntity:
		return domain.CodeValidation
	case http.StatusRequestHeaderFieldsTooLarge:
		return CodeHeadersTooLarge
	case http.StatusServiceUnavailable:
		return domain.CodeUnavailable
	}
	if status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		return domain.CodeInvalidRequest
	}
	return domain.CodeInternal
}

// Failure is an error response of the API: an HTTP status and the error in its envelope.
type Failure struct { //nolint:errname // the API calls an error response a failure
	Status    int
	RequestID string
	Err       *domain.Error
}

// Error returns the message of the error.
func (f *Failure) Error() string { return f.Err.Error() }

// GetStatus returns the HTTP status.
func (f *Failure) GetStatus() int { return f.Status }

// GetHeaders returns the response headers that belong to the error, such as Retry-After.
func (f *Failure) GetHeaders() http.Header {
	h := http.Header{}
	switch f.Status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", "Bearer")
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		after, _ := f.Err.Extra["retry_after"].(int)
		h.Set("Retry-After", strconv.Itoa(max(after, 1)))
	}
	return h
}

// MarshalJSON encodes the error envelope that API.md describes.
func (f *Failure) MarshalJSON() ([]byte, error) {
	e := make(map[string]any, len(f.Err.Extra)+5)
	maps.Copy(e, f.Err.Extra)
	e["code"], e["message"], e["request_id"] = f.Err.Code, f.Err.Message, f.RequestID
	if f.Err.Param != "" {
		e["param"] = f.Err.Param
	}
	if len(f.Err.Details) > 0 {
		e["details"] = f.Err.Details
	}
	return domain.EncodeJSON(map[string]any{"success": false, "error": e})
}

// Schema returns the schema of the error envelope.
func (*Failure) Schema(r huma.Registry) *huma.Schema {
	text := func(doc string) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Description: doc} }
	return &huma.Schema{
		Type: huma.TypeObject, Required: []string{"success", "error"}, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{
			"success": {Type: huma.TypeBoolean, Enum: []any{false}},
			"error": {
				Type: huma.TypeObject, Required: []string{"code", "message", "request_id"}, AdditionalProperties: true,
				Description: "Some codes add further fields, e.g. retry_after, required, active_calls, limit, current_status, allowed_from.",
				Properties: map[string]*huma.Schema{
					"code": text("Error code, for programs."), "message": text("Error message, for people."),
					"param": text("The field with the error."), "request_id": text("The request id, as in the header X-Request-Id."),
					"details": {Type: huma.TypeArray, Items: r.Schema(reflect.TypeFor[domain.Detail](), true, "Detail"), Description: "All errors of the request."},
				},
			},
		},
	}
}

// maxDetails is the maximum number of problems that one error response lists.
const maxDetails = 100

var humaErrorSetup sync.Once // huma configures errors by package variables

// useErrorEnvelope makes huma answer errors with the error envelope of the API.
func useErrorEnvelope() {
	humaErrorSetup.Do(func() {
		huma.ValidateStrictCasing = true
		setValidationMessages()
		huma.NewError = func(status int, msg string, errs ...error) huma.StatusError {
			return failureOfHumaError("", status, msg, errs)
		}
		huma.NewErrorWithContext = func(ctx huma.Context, status int, msg string, errs ...error) huma.StatusError {
			f := failureOfHumaError(RequestOf(ctx.Context()).RequestID, status, msg, errs)
			if status == http.StatusUnprocessableEntity {
				f.Err.Details = append(f.Err.Details, ruleProblems(ctx, f.Err.Details)...)
				f.Err.Details = f.Err.Details[:min(len(f.Err.Details), maxDetails)]
			}
			return f
		}
	})
}

func failureOfHumaError(requestID string, status int, msg string, errs []error) *Failure {
	e := &domain.Error{Code: CodeOfStatus(status), Message: msg}
	if status >= http.StatusInternalServerError {
		e.Message = "Internal error. Quote the request id in a support request."
		return &Failure{Status: status, RequestID: requestID, Err: e}
	}
	for _, err := range errs[:min(len(errs), maxDetails)] {
		d := domain.Detail{Code: e.Code, Message: err.Error()}
		var detailer huma.ErrorDetailer
		if errors.As(err, &detailer) { // the error omits the value, which may be the whole body
			hd := detailer.ErrorDetail()
			d.Param, d.Message = splitMissingMember(paramOf(hd.Location), hd.Message)
			if param, message, own := strings.Cut(hd.Message, paramEnd); own {
				d.Param, d.Message = param, message
			}
		}
		e.Details = append(e.Details, d)
	}
	if len(e.Details) > 0 {
		e.Param, e.Message = e.Details[0].Param, e.Details[0].Message
		if e.Param != "" {
			e.Message = e.Param + ": " + e.Message
		}
	}
	return &Failure{Status: status, RequestID: requestID, Err: e}
}

// paramOf converts a location of huma, such as body.name, to the name of the field as the client sent it, such as name.
func paramOf(location string) string {
	for _, place := range []string{"body", "query", "path", "header"} {
		if location == place {
			return ""
		}
		if rest, ok := strings.CutPrefix(location, place+"."); ok {
			return rest
		}
	}
	return location
}

// Failure converts an error of a handler or a service to an error response. It logs errors that the client did not
// cause.
func (s *Router) Failure(ctx context.Context, err error) *Failure {
	v := RequestOf(ctx)
	if ready, ok := errors.AsType[*Failure](err); ok {
		return ready
	}
	var known *domain.Error
	switch {
	case errors.As(err, &known):
		if known.Code == domain.CodeInternal || known.Code == domain.CodeUnavailable {
			level := slog.LevelWarn
			if _, unheard := errors.AsType[ShardMovingError](err); unheard {
				level = slog.LevelDebug
			}
			s.Log.Log(ctx, level, "request refused", slog.String("request_id", v.RequestID), slog.Any("error", err))
		}
		known = limitDetails(known)
	case errors.Is(err, domain.ErrNotFound):
		known = domain.Errorf(domain.CodeNotFound, "There is no such resource.")
	case errors.Is(err, domain.ErrFenced), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		s.Log.WarnContext(ctx, "request not answered in time", slog.String("request_id", v.RequestID), slog.Any("error", err))
		known = domain.Errorf(domain.CodeUnavailable, "The service is temporarily unavailable; try again.")
	default:
		s.Log.ErrorContext(ctx, "request failed", slog.String("request_id", v.RequestID), slog.Any("error", err))
		known = domain.Errorf(domain.CodeInternal, "Internal error. Quote the request id in a support request.")
	}
	return &Failure{Status: statusOf(known.Code), RequestID: v.RequestID, Err: known}
}

// limitDetails returns a copy of an error with at most maxDetails problems. It puts the name of the first field before
// the message.
func limitDetails(e *domain.Error) *domain.Error {
	if len(e.Details) == 0 {
		return e
	}
	c := *e
	c.Details = e.Details[:min(len(e.Details), maxDetails)]
	if c.Param != "" {
		c.Message = c.Param + ": " + c.Message
	}
	return &c
}

// RespondError answers a request with the error response for an error.
func (s *Router) RespondError(c *fiber.Ctx, err error) error {
	f := s.Failure(c.UserContext(), err)
	if f.RequestID == "" {
		f.RequestID = RequestID(c)
	}
	for k, values := range f.GetHeaders() {
		c.Set(k, values[0])
	}
	body, merr := f.MarshalJSON()
	if merr != nil {
		return merr
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Status(f.Status).Send(append(body, '\n'))
}

// ShardMovingError refuses a forwarded request because another node is taking over its shard. The forwarding node sends
// the request again to the next owner, so no client sees the error.
type ShardMovingError struct{ Err error }

// Error returns the message of the refusal.
func (r ShardMovingError) Error() string { return r.Err.Error() }

// Unwrap returns the wrapped error.
func (r ShardMovingError) Unwrap() error { return r.Err }
