package httpapi

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/router"
)

//go:embed pages/pages.html
var pagesText string

//go:embed pages/docs.html
var docsText string

// pageStyle is all the style there is: a page loads nothing.
const pageStyle = `body{font:1rem/1.5 system-ui,sans-serif;margin:0;background:#fff;color:#1a1a1a}main{max-width:34rem;margin:3rem auto;padding:0 1rem}` +
	`h1{font-size:1.5rem}button{font:inherit;padding:.5rem 1.25rem;margin-right:.5rem;border:1px solid #1a1a1a;border-radius:.25rem;background:#fff;color:#1a1a1a;cursor:pointer}` +
	`button[value=allow]{background:#0b4f9e;border-color:#0b4f9e;color:#fff}code{background:#eee;padding:0 .25rem}` +
	`@media(prefers-color-scheme:dark){body{background:#161616;color:#eee}code{background:#333}button{background:#161616;color:#eee;border-color:#eee}}`

// pages are the few that people see. Everything in them is escaped.
type pages struct {
	all    *template.Template
	policy string // of content, without where forms may lead
}

// newPages reads the templates, once for all servers of a process.
var newPages = sync.OnceValue(func() *pages { //nolint:gochecknoglobals // never changed
	sum := sha256.Sum256([]byte(pageStyle))
	return &pages{
		all:    template.Must(template.Must(template.New("pages").Parse(pagesText)).Parse(docsText)),
		policy: "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
	}
})

// frame is what every page has.
type frame struct {
	Title string
	Style template.CSS
}

// message is a page that only says something.
type message struct {
	frame
	Text string
}

// show answers with a page. to is an origin besides ours to which its form may
// lead in the end.
func (s *Server) show(c *fiber.Ctx, status int, name string, data any, to string) error {
	var b bytes.Buffer
	if err := s.pages.all.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	policy := s.pages.policy
	if to != "" {
		policy += " " + to
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set(fiber.HeaderContentSecurityPolicy, policy)
	c.Set(fiber.HeaderReferrerPolicy, "same-origin") // browsers leave the origin out of forms without any
	return c.Status(status).Send(b.Bytes())
}

func titled(title string) frame { return frame{Title: title, Style: pageStyle} }

func (s *Server) say(c *fiber.Ctx, status int, title, text string) error {
	return s.show(c, status, "message", message{titled(title), text}, "")
}

// ownPage says whether a form comes from a page of ours: browsers tell, and
// what does not tell is no browser that we serve.
func (s *Server) ownPage(c *fiber.Ctx) bool {
	if site := c.Get("Sec-Fetch-Site"); site != "" {
		return site == "same-origin"
	}
	origin, err := url.Parse(c.Get(fiber.HeaderOrigin))
	if err != nil || origin.Host == "" {
		return false
	}
	public, err := url.Parse(s.cfg.PublicURL)
	return origin.Host == string(c.Context().Host()) || err == nil && origin.Host == public.Host && origin.Scheme == public.Scheme
}

// person registers a page.
func (s *Server) person(op router.Operation, more func(*huma.Operation), handle fiber.Handler) {
	op.Public = true
	s.AddRaw(op, func(h *huma.Operation) {
		for _, status := range []int{http.StatusConflict, http.StatusUnprocessableEntity, http.StatusUnsupportedMediaType} {
			delete(h.Responses, strconv.Itoa(status))
		}
		for status, about := range map[int]string{
			http.StatusBadRequest: "What is wrong with the request.", http.StatusUnauthorized: "Nobody is signed in.", http.StatusForbidden: "It is not allowed.",
		} {
			h.Responses[strconv.Itoa(status)] = router.DescribeResponse(about, fiber.MIMETextHTML, &huma.Schema{Type: huma.TypeString})
		}
		h.Responses["200"] = router.DescribeResponse("A page.", fiber.MIMETextHTML, &huma.Schema{Type: huma.TypeString})
		more(h)
	}, handle)
}

// meaning is what a permission lets a program do, in words.
func meaning(p domain.Permission) string {
	switch p {
	case domain.AllRead:
		return "read everything"
	case domain.AllWrite:
		return "create, change and delete everything"
	case domain.CallsRead:
		return "read calls, campaigns, contacts and numbers"
	case domain.CallsWrite:
		return "place calls, and change campaigns, contacts and numbers"
	case domain.AgentsRead:
		return "read agents and pathways"
	case domain.AgentsWrite:
		return "change agents and pathways"
	case domain.AnalyticsRead:
		return "read usage, results and events"
	}
	return "do what is called"
}

// originOf is the origin of a redirect URI.
func originOf(uri string) string {
	scheme, rest, _ := strings.Cut(uri, "://")
	host, _, _ := strings.Cut(rest, "/")
	host, _, _ = strings.Cut(host, "?")
	return scheme + "://" + host
}
