package httpapi

import (
	"context"
	"io"
	"iter"
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/intake"
)

// NewDNCList is a do-not-call list as it is sent.
type NewDNCList struct {
	Name     string            `json:"name" example:"National registry"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// DNCNumbers is an import of numbers in JSON.
type DNCNumbers struct {
	Entries []DNCNumber `json:"entries" nullable:"false" doc:"Numbers; instead of an object its phone alone may stand as a text."`
}

// TransformSchema lets an entry be a text.
func (DNCNumbers) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	list := s.Properties["entries"]
	list.Items = &huma.Schema{AnyOf: []*huma.Schema{{Type: huma.TypeString}, list.Items}}
	return s
}

// DNCNumber is one of them.
type DNCNumber struct {
	Phone   string `json:"phone" example:"+12025550123"`
	Country string `json:"country,omitempty" doc:"ISO 3166: how a number without country code is read. Left out: the workspace's default_country."`
}

// DNCEntryDeleted is the answer to taking a number off a list.
type DNCEntryDeleted struct {
	Object  string `json:"object" enum:"dnc_entry"`
	Phone   string `json:"phone"`
	Deleted bool   `json:"deleted"`
}

// apply writes the settings to a list, and checks the list.
func (n *NewDNCList) apply(l *domain.DNCList) error {
	l.Name, l.Metadata = n.Name, n.Metadata
	var p domain.Problems
	validation.Text(&p, "name", l.Name, true, validation.MaxName)
	validation.Metadata(&p, l.Metadata)
	return p.Err()
}

func (s *Server) dncRoutes() {
	const tag, path = "Do not call", "/v1/dnc-lists"
	add(s.Router, operation{method: http.MethodPost, path: path, id: "createDNCList", tag: tag, status: http.StatusCreated, summary: "Create a do-not-call list"},
		func(ctx context.Context, p domain.Principal, in *struct{ Body NewDNCList }) (*answer[*domain.DNCList], error) {
			l := &domain.DNCList{}
			if err := in.Body.apply(l); err != nil {
				return nil, err
			}
			made, err := s.ports.DNC.CreateDNCList(ctx, p, l)
			return touched(ctx, made, err)
		})
	add(s.Router, operation{method: http.MethodGet, path: path, id: "listDNCLists", tag: tag, summary: "List the do-not-call lists", about: "The default list takes the opt-outs; every call is checked against it."},
		handleList(s.ports.DNC, DNC.ListDNCLists, same))
	add(s.Router, operation{method: http.MethodGet, path: path + "/{id}", id: "getDNCList", tag: tag, summary: "Get a do-not-call list"},
		handleByID(domain.PrefixDNC, s.ports.DNC, DNC.DNCList, same))
	add(s.Router, operation{method: http.MethodPatch, path: path + "/{id}", id: "updateDNCList", tag: tag, summary: "Change a do-not-call list"},
		handlePatchByID(s.Registry, domain.PrefixDNC, s.ports.DNC, DNC.UpdateDNCList, (*NewDNCList).apply))
	add(s.Router, operation{
		method: http.MethodDelete, path: path + "/{id}", id: "deleteDNCList", tag: tag, summary: "Delete a do-not-call list",
		about: "409 invalid_state for the default list, and while an open campaign names it.", errors: []int{http.StatusConflict},
	},
		handleDeleteByID(domain.PrefixDNC, "dnc_list", s.ports.DNC, DNC.DeleteDNCList))
	s.decisionRoutes()
	s.dncEntryRoutes(tag, path+"/{id}/entries")
}

func (s *Server) dncEntryRoutes(tag, path string) {
	s.raw(operation{
		method: http.MethodPost, path: path, id: "importDNCEntries", tag: tag, summary: "Put numbers onto a do-not-call list",
		about: "Takes JSON, or text/csv with a header row and a column phone, or text/plain with one number per line; these may be streamed and hold " +
			"10 million numbers. Rows that cannot be used are counted and the first 100 of them told. The numbers are added after the whole body was read: " +
			"a body that is incomplete is 400 and adds none. Each number holds from its import on, also for attempts that are queued.",
	}, s.describeNumbers, s.importNumbers)
	add(s.Router, operation{
		method: http.MethodGet, path: path, id: "listDNCEntries", tag: tag, summary: "List the numbers of a do-not-call list, in an order of its own", errors: []int{http.StatusUnprocessableEntity},
		about: "With created_after or created_before a page looks through a bounded part of the list: it may hold fewer than limit, or none, while next_cursor goes on.",
	},
		func(ctx context.Context, p domain.Principal, in *struct {
			One
			Paging
		},
		) (*answer[List[domain.DNCEntry]], error) {
			id, err := named(domain.PrefixDNC, in.ID)
			if err != nil {
				return nil, err
			}
			l, err := s.ports.DNC.ListDNCEntries(ctx, p, id, in.page())
			return page(l, err, same)
		})
	add(s.Router, operation{method: http.MethodDelete, path: path + "/{phone}", id: "deleteDNCEntry", tag: tag, summary: "Take a number off a do-not-call list"},
		func(ctx context.Context, p domain.Principal, in *struct {
			One
			Phone string `path:"phone" maxLength:"64" doc:"E.164; the plus may be left out."`
		},
		) (*answer[DNCEntryDeleted], error) {
			id, err := named(domain.PrefixDNC, in.ID)
			if err != nil {
				return nil, err
			}
			phone, err := url.PathUnescape(in.Phone)
			if err != nil {
				phone = in.Phone
			}
			e164, err := s.ports.DNC.DeleteDNCEntry(ctx, p, id, phone)
			return ok(DNCEntryDeleted{Object: "dnc_entry", Phone: e164, Deleted: true}, err)
		})
	add(s.Router, operation{
		method: http.MethodGet, path: "/v1/dnc/check", id: "checkDNC", tag: tag, summary: "Ask whether a number is on a do-not-call list",
		about: "Looks into every list of the workspace.", errors: []int{http.StatusUnprocessableEntity},
	},
		func(ctx context.Context, p domain.Principal, in *struct {
			Phone string `query:"phone" required:"true" maxLength:"64" doc:"Best in E.164."`
		},
		) (*answer[ask.DNCCheck], error) {
			return ok(s.ports.DNC.CheckDNC(ctx, p, in.Phone))
		})
}

func (s *Server) describeNumbers(h *huma.Operation) {
	text := &huma.Schema{Type: huma.TypeString}
	h.RequestBody = &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		fiber.MIMEApplicationJSON: {Schema: schemaOf[DNCNumbers](s.api)},
		mimeCSV:                   {Schema: text, Example: "phone\n+12025550123\n"},
		fiber.MIMETextPlain:       {Schema: text, Example: "+12025550123\n+12025550124\n"},
	}}
	h.Responses["200"] = response("What became of the rows.", fiber.MIMEApplicationJSON, schemaOf[ask.DNCImport](s.api))
}

func (s *Server) importNumbers(c *fiber.Ctx) error {
	id, err := named(domain.PrefixDNC, c.Params("id"))
	if err != nil {
		return err
	}
	if enc := c.Get(fiber.HeaderContentEncoding); enc != "" && enc != "identity" {
		return domain.Errorf(domain.CodeUnsupportedMedia, "The body must not be compressed.")
	}
	return s.RunStreamOnce(c, func() error {
		rows, err := s.numbersOf(c)
		if err != nil {
			return err
		}
		v := visitOf(c.UserContext())
		ctx, cancel := context.WithCancel(s.begin(v)) // the body has its own clock
		defer cancel()
		sum, err := s.ports.DNC.ImportDNC(ctx, v.principal, id, rowsThenDrain(bodyOf(c), rows))
		if err != nil {
			return err
		}
		return c.JSON(sum)
	})
}

// numbersOf are the numbers in a request, by its content type.
func (s *Server) numbersOf(c *fiber.Ctx) (iter.Seq2[ask.RawNumber, error], error) {
	b := bodyOf(c)
	kind := mediaType(c)
	switch kind {
	case mimeCSV, fiber.MIMETextPlain:
		text, err := inUTF8(b, charsetOf(c.Get(fiber.HeaderContentType)))
		if err != nil {
			return nil, err
		}
		if kind == mimeCSV {
			return intake.NumbersOf(intake.CSV(text)), nil
		}
		return intake.NumberLines(text), nil
	case fiber.MIMEApplicationJSON:
		text, err := io.ReadAll(io.LimitReader(b, s.cfg.JSONLimit+1))
		if err != nil {
			return nil, err
		}
		if int64(len(text)) > s.cfg.JSONLimit {
			return nil, errTooLarge.With("limit", s.cfg.JSONLimit)
		}
		return intake.JSONNumbers(text)
	}
	return nil, domain.Errorf(domain.CodeUnsupportedMedia, "Numbers come as application/json, text/csv or text/plain.")
}

// CheckRules checks what the schema cannot express.
func (n *NewDNCList) CheckRules(context.Context, Workspaces, domain.Principal) error {
	return n.apply(&domain.DNCList{})
}
