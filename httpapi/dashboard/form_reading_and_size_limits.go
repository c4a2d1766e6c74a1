package dashboard

import (
	"math"
	"net/http"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/pages"
	"github.com/callboard/callboard/httpapi/router"
)

// Limits of a submitted form that is returned in a page to a client without a session.
const (
	maxAnonymousForm   = 256 << 10 // bytes of a form without a session
	maxAnonymousFields = 100
)

// MaxLongForm is the maximum size in bytes of a form that holds a pathway or a test conversation.
const MaxLongForm = 4 << 20

// maxForm returns the maximum size of a page's form in bytes.
func maxForm(r Route) int64 {
	if r.LongForm {
		return MaxLongForm
	}
	return pages.FormLimit
}

// readPageForm reads and parses the form of a dashboard page. A name may occur several times, because a group of
// checkboxes shares one name.
func readPageForm(c *fiber.Ctx, maxBytes int64, maxFields int) (url.Values, error) {
	text, err := pages.ReadFormText(c, maxBytes)
	if err != nil {
		return nil, err
	}
	if strings.Count(text, "&") >= maxFields {
		return nil, domain.Errorf(domain.OAuthInvalidRequest, "The form has more than %d fields.", maxFields)
	}
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, domain.Errorf(domain.OAuthInvalidRequest, "The form cannot be read.")
	}
	return values, nil
}

// sentForm returns the form that a request submits, nil if there is none. It ignores a form from a page of another
// origin.
func (s *handler) sentForm(c *fiber.Ctx, r Route) url.Values {
	if r.Method == http.MethodGet || r.Upload || c.Request().Header.ContentLength() == 0 || !pages.IsSameOrigin(c, s.PublicURL) || !isPathSegment(c.Params("id")) || !isPathSegment(c.Params("verb")) {
		return nil
	}
	if form := router.ExchangeOf(c.Context()).Form; form != nil {
		return form
	}
	maxBytes, maxFields := maxForm(r), math.MaxInt
	if router.RequestOf(c.UserContext()).Principal.UserID == "" { // without a session any client can imitate a page of the service
		maxBytes, maxFields = min(maxBytes, maxAnonymousForm), maxAnonymousFields
	}
	form, err := readPageForm(c, maxBytes, maxFields)
	if err != nil || len(form) == 0 {
		return nil
	}
	return form
}
