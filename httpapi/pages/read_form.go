package pages

import (
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

// FormLimit is the maximum size in bytes of a form that has few fields.
const FormLimit = 16 << 10

// ReadForm returns the form in a request body of at most FormLimit bytes. It refuses repeated fields.
func ReadForm(c *fiber.Ctx) (url.Values, error) {
	text, err := ReadFormText(c, FormLimit)
	if err != nil {
		return nil, err
	}
	return ParseFields(text)
}

// ReadFormText returns the encoded form in a request body of at most limit bytes.
func ReadFormText(c *fiber.Ctx, limit int64) (string, error) {
	b := router.BodyOf(c)
	b.Limit = limit
	text, err := b.ReadAll(c.Request().Header.ContentLength())
	if err != nil {
		return "", err
	}
	if router.MediaType(c) != fiber.MIMEApplicationForm {
		return "", domain.Errorf(domain.OAuthInvalidRequest, "The body must be a form: Content-Type: application/x-www-form-urlencoded.")
	}
	return string(text), nil
}

// ParseFields parses the text of a form or a query string. It refuses repeated fields (RFC 6749 §3.1).
func ParseFields(text string) (url.Values, error) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return nil, domain.Errorf(domain.OAuthInvalidRequest, "The parameters cannot be read.")
	}
	for name, all := range values {
		if len(all) > 1 {
			return nil, domain.Errorf(domain.OAuthInvalidRequest, "The parameter %s is repeated.", router.Truncate(strconv.Quote(name), 60))
		}
	}
	return values, nil
}
