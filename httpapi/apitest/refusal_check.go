package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/callboard/callboard/httpapi/openapi"
)

// failure is the decoded body of an error response.
type failure struct {
	Error struct {
		Code      string `json:"code"`
		Message   string `json:"message"`
		Param     string `json:"param"`
		RequestID string `json:"request_id"`
		Details   []struct {
			Param   string `json:"param"`
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"details"`
	} `json:"error"`
}

// params returns the request fields that an error response names.
func (f failure) params() []string {
	var all []string
	if f.Error.Param != "" {
		all = append(all, f.Error.Param)
	}
	for _, d := range f.Error.Details {
		if d.Param != "" {
			all = append(all, d.Param)
		}
	}
	return all
}

// checkResponse describes what is wrong with the response to an attempt, "" if nothing is.
func (w *Walk) checkResponse(o *openapi.Operation, a testRequest, r Reply) string {
	if err := w.Contract.Check(a.Method, a.Path, r.Status, r.Header, r.Body); err != nil {
		return err.Error()
	}
	if r.Status >= http.StatusInternalServerError {
		return "server error"
	}
	if r.Status < http.StatusBadRequest {
		if a.bad && !w.Concurrent && !reportsProblems(r.Body) {
			return "accepted, but invalid by the document"
		}
		if a.good {
			w.accepted[o.ID]++
			if a.Kind == "application/json" {
				w.bodies[o.ID] = a.Body
			}
		}
		return ""
	}
	if w.Concurrent {
		return ""
	}
	var f failure
	if r.Header.Get("Content-Type") != "application/json" || json.Unmarshal(r.Body, &f) != nil || f.Error.Code == "" {
		return "" // the response is an HTML page or an OAuth error, which have no error envelope
	}
	if f.Error.RequestID != r.Header.Get("X-Request-Id") || f.Error.Message == "" {
		return "the error has no message or a wrong request id"
	}
	if r.Status == http.StatusTooManyRequests {
		return ""
	}
	if a.good && slices.Contains([]int{http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType, http.StatusRequestEntityTooLarge}, r.Status) {
		return "refused, but valid by the document"
	}
	params := f.params()
	if a.good && w.Refused != nil {
		w.Refused(o.Method+" "+o.Path, a.Body, r)
	}
	if r.Status == http.StatusUnprocessableEntity && len(params) == 0 && !needsNoField(f.Error.Code, a) {
		return "the error names no field"
	}
	if a.bad && r.Status == http.StatusUnprocessableEntity && !namesField(params, a.wrongFields) && !isAboutEarlierField(params, a.wrongFields) {
		return fmt.Sprintf("the error names %v, and %v is wrong", params, a.wrongFields)
	}
	if a.bad && r.Status != http.StatusUnprocessableEntity && !slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusForbidden}, r.Status) {
		return "wrong status for a request that is invalid by the document"
	}
	return ""
}

// reportsProblems reports whether a successful response lists problems, such as invalid rows of an upload.
func reportsProblems(body []byte) bool {
	var problems struct {
		Rows     []any `json:"contact_errors"`
		Problems []any `json:"errors"`
	}
	return json.Unmarshal(body, &problems) == nil && len(problems.Rows)+len(problems.Problems) > 0
}

// isAboutEarlierField reports whether only list items were made invalid, but the error names fields outside the list.
// Such an error is allowed, because the server checks those fields first.
func isAboutEarlierField(params, named []string) bool {
	item := func(path string) bool { return strings.HasPrefix(path, "items[") }
	return len(params) > 0 && !slices.ContainsFunc(params, item) && len(named) > 0 && !slices.ContainsFunc(named, func(path string) bool { return !item(path) })
}

// needsNoField reports whether an error response may omit the name of the wrong field. It may if the error is about
// the whole body or is not a validation error.
func needsNoField(code string, a testRequest) bool {
	return strings.HasPrefix(code, "idempotency") || code != "validation_error" || a.label == "malformed:" || slices.Contains(a.wrongFields, "")
}

// indexPattern matches the list indexes in a parameter path. An error about a value of the wrong type may omit them.
var indexPattern = regexp.MustCompile(`\[\d+\]`)

// namesField reports whether params, the fields that an error names, include a wrong field or a value inside one.
func namesField(params, wrong []string) bool {
	for _, p := range params {
		for _, n := range wrong {
			if p == n || n == "" || p == indexPattern.ReplaceAllString(n, "") || strings.HasPrefix(p, n+".") || strings.HasPrefix(p, n+"[") {
				return true
			}
		}
	}
	return slices.Contains(wrong, "")
}
