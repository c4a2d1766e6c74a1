// Package pages renders the HTML pages outside the dashboard and reads their forms.
package pages

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/httpapi/router"
)

//go:embed pages.html
var pagesText string

//go:embed docs.html
var docsText string

// style is the inline style sheet of all pages, which load no other resources.
const style = `body{font:1rem/1.5 system-ui,sans-serif;margin:0;background:#fff;color:#1a1a1a}main{max-width:34rem;margin:3rem auto;padding:0 1rem}` +
	`h1{font-size:1.5rem}button{font:inherit;padding:.5rem 1.25rem;margin-right:.5rem;border:1px solid #1a1a1a;border-radius:.25rem;background:#fff;color:#1a1a1a;cursor:pointer}` +
	`button[value=allow]{background:#0b4f9e;border-color:#0b4f9e;color:#fff}code{background:#eee;padding:0 .25rem}` +
	`@media(prefers-color-scheme:dark){body{background:#161616;color:#eee}code{background:#333}button{background:#161616;color:#eee;border-color:#eee}}`

// parsedPages holds the page templates, which escape all values. policy is the Content-Security-Policy of a page whose
// form does not lead to another origin.
type parsedPages struct {
	templates *template.Template
	policy    string
}

// parsePages parses the page templates once for all servers of a process.
var parsePages = sync.OnceValue(func() *parsedPages { //nolint:gochecknoglobals // never changed
	sum := sha256.Sum256([]byte(style))
	return &parsedPages{
		templates: template.Must(template.Must(template.New("pages").Parse(pagesText)).Parse(docsText)),
		policy:    "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
	}
})

// Prepare parses the page templates before the first page needs them.
func Prepare() { parsePages() }

// Policy returns the Content-Security-Policy of a page whose form does not lead to another origin.
func Policy() string { return parsePages().policy }

// Execute renders the template with the given name to w.
func Execute(w io.Writer, name string, data any) error {
	return parsePages().templates.ExecuteTemplate(w, name, data)
}

// Frame holds the title and the style sheet that every page needs.
type Frame struct {
	Title string
	Style template.CSS
}

// NewFrame returns a Frame with the style sheet of this package.
func NewFrame(title string) Frame { return Frame{Title: title, Style: style} }

// message is the data of a page that shows one sentence.
type message struct {
	Frame
	Text string
}

// Respond answers with the page of a template. formTarget is another origin to which the page's form may redirect, ""
// for none.
func Respond(c *fiber.Ctx, status int, name string, data any, formTarget string) error {
	var b bytes.Buffer
	if err := Execute(&b, name, data); err != nil {
		return err
	}
	policy := Policy()
	if formTarget != "" {
		policy += " " + formTarget
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set(fiber.HeaderContentSecurityPolicy, policy)
	c.Set(fiber.HeaderReferrerPolicy, "same-origin") // with no-referrer, browsers omit the Origin header of forms
	return c.Status(status).Send(b.Bytes())
}

// RespondMessage answers with a page that shows a title and one sentence.
func RespondMessage(c *fiber.Ctx, status int, title, text string) error {
	return Respond(c, status, "message", message{NewFrame(title), text}, "")
}

// IsSameOrigin reports whether a request comes from a page of the service at publicURL. It checks the headers that
// browsers send and returns false without them.
func IsSameOrigin(c *fiber.Ctx, publicURL string) bool {
	if site := c.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin, err := url.Parse(c.Get(fiber.HeaderOrigin))
	if err != nil || origin.Host == "" {
		return false
	}
	public, err := url.Parse(publicURL)
	return origin.Host == string(c.Context().Host()) || err == nil && origin.Host == public.Host && origin.Scheme == public.Scheme
}

// Register registers the route of a page. describe completes the entry of the route in the OpenAPI document.
func Register(r *router.Router, op router.Operation, describe func(*huma.Operation), handle fiber.Handler) {
	op.Public = true
	r.AddRaw(op, func(h *huma.Operation) {
		for _, status := range []int{http.StatusConflict, http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType} {
			delete(h.Responses, strconv.Itoa(status))
		}
		for status, about := range map[int]string{
			http.StatusBadRequest: "The request is invalid.", http.StatusUnauthorized: "Not signed in.", http.StatusForbidden: "Not allowed.",
		} {
			h.Responses[strconv.Itoa(status)] = router.DescribeResponse(about, fiber.MIMETextHTML, &huma.Schema{Type: huma.TypeString})
		}
		h.Responses["200"] = router.DescribeResponse("A page.", fiber.MIMETextHTML, &huma.Schema{Type: huma.TypeString})
		describe(h)
	}, handle)
}
