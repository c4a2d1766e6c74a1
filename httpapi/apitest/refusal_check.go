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

// failure is the envelope of errors, as far as it is judged.
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

// params are the fields that an error names.
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

// checkRefusal says what is wrong with an answer; "": nothing.
func (w *Walk) checkRefusal(o *openapi.Operation, a attempt, r Reply) string {
	if err := w.Contract.Check(a.Method, a.Path, r.Status, r.Header, r.Body); err != nil {
		return err.Error()
	}
	if r.Status >= http.StatusInternalServerError {
		return "a fault of the service"
	}
	if r.Status < http.StatusBadRequest {
		if a.bad && !w.Concurrent && !reportsProblems(r.Body) {
			return "it was taken, and the document forbids it"
		}
		if a.good {
			w.taken[o.ID]++
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
		return "" // a page, or the words of OAuth
	}
	if f.Error.RequestID != r.Header.Get("X-Request-Id") || f.Error.Message == "" {
		return "the error has no message, or another request's id"
	}
	if r.Status == http.StatusTooManyRequests {
		return ""
	}
	if a.good && slices.Contains([]int{http.StatusBadRequest, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType, http.StatusRequestEntityTooLarge}, r.Status) {
		return "the document allows it"
	}
	params := f.params()
	if a.good && w.Refused != nil {
		w.Refused(o.Method+" "+o.Path, a.Body, r)
	}
	if r.Status == http.StatusUnprocessableEntity && len(params) == 0 && !needsNoField(f.Error.Code, a) {
		return "the error names no field"
	}
	if a.bad && r.Status == http.StatusUnprocessableEntity && !namesField(params, a.named) && !isAboutEarlierField(params, a.named) {
		return fmt.Sprintf("the error names %v, and %v is wrong", params, a.named)
	}
	if a.bad && r.Status != http.StatusUnprocessableEntity && !slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict, http.StatusForbidden}, r.Status) {
		return "what the document forbids is answered so"
	}
	return ""
}

// reportsProblems says whether a good answer lists what is wrong with single rows, or with
// what it was asked to look over.
func reportsProblems(body []byte) bool {
	var told struct {
		Rows     []any `json:"contact_errors"`
		Problems []any `json:"errors"`
	}
	return json.Unmarshal(body, &told) == nil && len(told.Rows)+len(told.Problems) > 0
}

// isAboutEarlierField says whether an error is about what is read before the items of a
// list, one of which is wrong as well.
func isAboutEarlierField(params, named []string) bool {
	item := func(path string) bool { return strings.HasPrefix(path, "items[") }
	return len(params) > 0 && !slices.ContainsFunc(params, item) && len(named) > 0 && !slices.ContainsFunc(named, func(path string) bool { return !item(path) })
}

// needsNoField tells of errors without a field: they are about the whole body, or
// about none.
func needsNoField(code string, a attempt) bool {
	return strings.HasPrefix(code, "idempotency") || code != "validation_error" || a.about == "malformed:" || slices.Contains(a.named, "")
}

// noIndex finds the numbers of rows, which an error about a value of a wrong
// kind may leave out.
var noIndex = regexp.MustCompile(`\[\d+\]`)

// namesField says whether an error names one of the fields that are wrong, or what
// stands inside of one.
func namesField(params, wrong []string) bool {
	for _, p := range params {
		for _, n := range wrong {
			if p == n || n == "" || p == noIndex.ReplaceAllString(n, "") || strings.HasPrefix(p, n+".") || strings.HasPrefix(p, n+"[") {
				return true
			}
		}
	}
	return slices.Contains(wrong, "")
}
